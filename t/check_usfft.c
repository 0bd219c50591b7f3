#include "t/check.h"
#include "t/check_usfft.h"

extern void check_usfft(void);

void
check_usfft(void)
{
	check_usfft_line();
}
