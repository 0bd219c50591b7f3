/* The programs with checks of numbers, for check.c. */
PROGRAM(common)
PROGRAM(samples)
PROGRAM(usfft)
PROGRAM(radon)
PROGRAM(wconv)
PROGRAM(emst)
PROGRAM(dptrace)
PROGRAM(morphrec)
