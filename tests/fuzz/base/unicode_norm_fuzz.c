/* Any bytes in the four normalization forms: normal text stays, a cut where the prefix says makes no difference, and
 * the composed form of the decomposed one is the composed form. SPDX-License-Identifier: MIT */
#include "base/unicode_norm.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static qn_buf form_of(qn_norm form, qn_str text)
{
    qn_buf out;
    qn_buf_init(&out, NULL, "fuzz", SIZE_MAX / 2);
    if (qn_norm_add(form, text.data, text.len, &out) != QN_OK) {
        abort();
    }
    return out;
}

static void assert_form(qn_norm form, qn_str text, const qn_buf *expected)
{
    qn_buf out = form_of(form, text);
    if (!qn_str_eq(qn_buf_view(&out), qn_buf_view(expected))) {
        abort();
    }
    qn_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const qn_norm decomposed[] = {[QN_NORM_NFC] = QN_NORM_NFD, [QN_NORM_NFKC] = QN_NORM_NFKD};
    qn_str text = {(const char *)data, size};
    for (qn_norm form = QN_NORM_NFC; form <= QN_NORM_NFKD; form++) {
        qn_buf normal = form_of(form, text);
        assert_form(form, qn_buf_view(&normal), &normal);
        size_t cut = qn_norm_prefix(form, text.data, text.len);
        qn_buf parts = form_of(form, (qn_str){text.data, cut});
        if (cut > size || !qn_str_eq(qn_buf_view(&parts), (qn_str){text.data, cut}) ||
            qn_norm_add(form, text.data + cut, size - cut, &parts) != QN_OK ||
            !qn_str_eq(qn_buf_view(&parts), qn_buf_view(&normal))) {
            abort();
        }
        if (form == QN_NORM_NFC || form == QN_NORM_NFKC) {
            qn_buf apart = form_of(decomposed[form], text);
            assert_form(form, qn_buf_view(&apart), &normal);
            assert_form(decomposed[form], qn_buf_view(&normal), &apart);
            qn_buf_free(&apart);
        }
        qn_buf_free(&parts);
        qn_buf_free(&normal);
    }
    return 0;
}
