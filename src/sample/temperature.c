/* Temperature, and the draw by it. SPDX-License-Identifier: MIT */
#include "sample/sample_int.h"

int32_t qn_sample_temperature(qn_candidates *c, double temperature, double unit)
{
    double sum = qn_candidates_weigh(c, temperature);
    double target = unit * sum;
    double reached = 0;
    size_t i_last = 0; /* rounding may leave the target a hair above what the sum reaches */
    for (size_t i = 0; i < c->n; i++) {
        if (c->item[i].weight > 0) {
            reached += c->item[i].weight;
            i_last = i;
            if (reached > target) {
                break;
            }
        }
    }
    return c->item[i_last].id;
}
