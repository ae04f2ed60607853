/* The list of architectures. A new one is a line here and a file in arch/ (docs/add-a-model.md).
 * SPDX-License-Identifier: MIT */
#include "model/arch/archs.h"

static const qn_arch *const archs[] = {
    &qn_arch_llama, &qn_arch_qwen2, &qn_arch_qwen3, &qn_arch_gemma2, &qn_arch_gemma3, NULL,
};

const qn_arch *const *qn_arch_list(void)
{
    return archs;
}

const qn_arch *qn_arch_find(qn_str name)
{
    for (size_t i = 0; archs[i] != NULL; i++) {
        if (qn_str_is(name, archs[i]->name)) {
            return archs[i];
        }
    }
    return NULL;
}
