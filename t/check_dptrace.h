/* The checks of dptrace, by file. */
#ifndef T_CHECK_DPTRACE_H
#define T_CHECK_DPTRACE_H

void check_dptrace_scores(void);
void check_dptrace_traces(void);
void check_dptrace_ways(void);

#endif
