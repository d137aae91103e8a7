/* Calls of the C interface in a loop, for bench_c_interface.py. */
#include <tieaware.h>

int32_t evaluate_often(const tieaware_functions *functions, tieaware_evaluator evaluator, const double *scores,
                       int64_t n_scores, double *values, int64_t n_values, int64_t calls)
{
    const tieaware_scores described = tieaware_float64(scores, n_scores);
    int32_t code = TIEAWARE_OK;
    for (int64_t i = 0; i < calls && code == TIEAWARE_OK; i++)
        code = functions->evaluate(evaluator, &described, values, n_values);
    return code;
}
