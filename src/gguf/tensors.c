/* The tensor descriptions: shapes, sizes, and that no two tensors share a byte.
 * SPDX-License-Identifier: MIT */
#include "base/checked.h"
#include "gguf/gguf_int.h"

/* Fills in the shape from the cursor, and the sizes that follow from it. */
static qn_status take_shape(qn_gguf_cursor *c, qn_gguf_tensor *t, qn_error *err)
{
    if (!qn_gguf_take_u32(c, &t->n_dims)) {
        return qn_gguf_fail_cut(c, sizeof(t->n_dims), err, "tensor '%.*s': number of dimensions", QN_STR_ARG(t->name));
    }
    if (t->n_dims == 0 || t->n_dims > 4) {
        return qn_fail(err, QN_EFORMAT, "tensor '%.*s': has %" PRIu32 " dimensions, not 1 to 4", QN_STR_ARG(t->name),
                       t->n_dims);
    }
    uint64_t n_elements = 1;
    for (uint32_t i = 0; i < 4; i++) {
        t->ne[i] = 1;
        if (i < t->n_dims && !qn_gguf_take_u64(c, &t->ne[i])) {
            return qn_gguf_fail_cut(c, sizeof(t->ne[i]), err, "tensor '%.*s': dimension %" PRIu32, QN_STR_ARG(t->name),
                                    i);
        }
        if (t->ne[i] == 0) {
            return qn_fail(err, QN_EFORMAT, "tensor '%.*s': dimension %" PRIu32 " is 0", QN_STR_ARG(t->name), i);
        }
        if (!qn_mul_u64(n_elements, t->ne[i], &n_elements) || n_elements > INT64_MAX) {
            return qn_fail(err, QN_EFORMAT, "tensor '%.*s': dimension %" PRIu32 " is %" PRIu64 ", too many elements",
                           QN_STR_ARG(t->name), i, t->ne[i]);
        }
    }
    return QN_OK;
}

static qn_status take_type(qn_gguf_cursor *c, qn_gguf_tensor *t, qn_error *err)
{
    uint32_t type;
    if (!qn_gguf_take_u32(c, &type)) {
        return qn_gguf_fail_cut(c, sizeof(type), err, "tensor '%.*s': type", QN_STR_ARG(t->name));
    }
    const qn_type_info *info = qn_type_find(type);
    if (info == NULL) {
        return qn_fail(err, QN_EUNSUPPORTED, "tensor '%.*s': unknown type %" PRIu32, QN_STR_ARG(t->name), type);
    }
    t->type = (qn_type)type;
    if (t->ne[0] % info->block_len != 0) {
        return qn_fail(err, QN_EFORMAT, "tensor '%.*s': rows of %" PRIu64 " are not whole %s blocks of %" PRIu32,
                       QN_STR_ARG(t->name), t->ne[0], info->name, info->block_len);
    }
    uint64_t n_rows = t->ne[1] * t->ne[2] * t->ne[3]; /* take_shape() has bounded the product */
    if (!qn_type_row_bytes(type, t->ne[0], &t->row_bytes) || !qn_mul_u64(t->row_bytes, n_rows, &t->bytes) ||
        t->bytes > INT64_MAX) {
        return qn_fail(err, QN_EFORMAT, "tensor '%.*s': its size overflows", QN_STR_ARG(t->name));
    }
    return QN_OK;
}

/* Leaves the offset as the file has it, from the start of the data section. */
static qn_status take_tensor(qn_gguf_cursor *c, uint64_t i, uint32_t alignment, qn_gguf_tensor *t, qn_error *err)
{
    QN_TRY(qn_gguf_take_name(c, QN_GGUF_MAX_NAME, "tensor", i, &t->name, err));
    QN_TRY(take_shape(c, t, err));
    QN_TRY(take_type(c, t, err));
    if (!qn_gguf_take_u64(c, &t->offset)) {
        return qn_gguf_fail_cut(c, sizeof(t->offset), err, "tensor '%.*s': offset", QN_STR_ARG(t->name));
    }
    if (t->offset % alignment != 0) {
        return qn_fail(err, QN_EFORMAT, "tensor '%.*s': offset %" PRIu64 " is not a multiple of %" PRIu32,
                       QN_STR_ARG(t->name), t->offset, alignment);
    }
    return QN_OK;
}

/* Turns offsets into places in the file and holds them against its size. */
static qn_status place_tensors(const qn_gguf_part *p, qn_gguf_tensor *tensors, size_t n, qn_error *err)
{
    uint64_t data_start, end, file_end = 0;
    const qn_gguf_tensor *last = NULL;
    bool fits = qn_round_up_u64(p->cursor.at, p->alignment, &data_start);
    for (size_t i = 0; i < n; i++) {
        qn_gguf_tensor *t = &tensors[i];
        if (!fits || !qn_add_u64(data_start, t->offset, &t->offset) || !qn_add_u64(t->offset, t->bytes, &end)) {
            return qn_fail(err, QN_EFORMAT, "tensor '%.*s': its offset overflows", QN_STR_ARG(t->name));
        }
        if (end > file_end) {
            file_end = end;
            last = t;
        }
    }
    if (file_end > p->bytes) {
        return qn_fail(err, QN_EFORMAT,
                       "tensor '%.*s': the file is cut short: at least %" PRIu64 " bytes expected, %" PRIu64 " found",
                       QN_STR_ARG(last->name), file_end, p->bytes);
    }
    return QN_OK;
}

/* Where a tensor begins; small and side by side, as sorting touches them in no order. */
typedef struct place {
    uint64_t offset;
    uint32_t i_tensor;
} place;

/* Moves p[i] down a heap with the greatest offset on top. */
static void sift_down(place *p, size_t i, size_t n)
{
    place moved = p[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && p[child + 1].offset > p[child].offset) {
            child++;
        }
        if (p[child].offset <= moved.offset) {
            break;
        }
        p[i] = p[child];
    }
    p[i] = moved;
}

/* Heap sort: a hostile order costs it nothing extra, in time or in stack. */
static void sort_places(place *p, size_t n)
{
    for (size_t i = n / 2; i > 0; i--) {
        sift_down(p, i - 1, n);
    }
    for (size_t i = n; i > 1; i--) {
        place greatest = p[0];
        p[0] = p[i - 1];
        p[i - 1] = greatest;
        sift_down(p, 0, i - 1);
    }
}

static qn_status check_overlap(qn_budget *b, const qn_gguf_tensor *tensors, size_t n, qn_error *err)
{
    place *places = qn_zalloc_array(b, QN_GGUF_OWNER, n, sizeof(*places));
    if (places == NULL) {
        return qn_fail(err, QN_ENOMEM, "no memory to sort %zu tensors", n);
    }
    bool is_sorted = true;
    for (size_t i = 0; i < n; i++) {
        places[i] = (place){tensors[i].offset, (uint32_t)i};
        is_sorted = is_sorted && (i == 0 || tensors[i - 1].offset <= tensors[i].offset);
    }
    if (!is_sorted) {
        sort_places(places, n);
    }
    qn_status status = QN_OK;
    for (size_t i = 1; i < n && status == QN_OK; i++) {
        const qn_gguf_tensor *before = &tensors[places[i - 1].i_tensor], *t = &tensors[places[i].i_tensor];
        if (before->offset + before->bytes > t->offset) {
            status = qn_fail(err, QN_EFORMAT, "tensor '%.*s': its data overlap those of '%.*s'", QN_STR_ARG(t->name),
                             QN_STR_ARG(before->name));
        }
    }
    qn_free(places);
    return status;
}

/* The tensors of one part, which become g->tensors[g->n_tensors] and the following ones. */
static qn_status read_part(qn_gguf *g, qn_gguf_part *p, qn_error *err)
{
    qn_gguf_tensor *tensors = &g->tensors[g->n_tensors];
    for (uint64_t i = 0; i < p->n_tensors; i++) {
        QN_TRY(take_tensor(&p->cursor, i, p->alignment, &tensors[i], err));
        tensors[i].i_shard = (uint32_t)(p - g->parts);
        if (!qn_gguf_index_add(&g->index, g->n_tensors)) {
            return qn_fail(err, QN_EFORMAT, "tensor '%.*s': the name stands twice", QN_STR_ARG(tensors[i].name));
        }
        g->n_tensors++;
    }
    QN_TRY(place_tensors(p, tensors, p->n_tensors, err));
    return check_overlap(g->budget, tensors, p->n_tensors, err);
}

qn_status qn_gguf_read_tensors(qn_gguf *g, qn_error *err)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < g->n_parts; i++) {
        n += g->parts[i].n_tensors; /* each is at most QN_GGUF_MAX_TENSORS */
    }
    if (n > QN_GGUF_MAX_TENSORS) {
        return qn_fail(err, QN_EFORMAT, "the parts have %" PRIu64 " tensors, more than %d", n, QN_GGUF_MAX_TENSORS);
    }
    g->tensors = qn_zalloc_array(g->budget, QN_GGUF_OWNER, n, sizeof(*g->tensors));
    if (g->tensors == NULL || !qn_gguf_index_init(&g->index, g->budget, g->tensors, sizeof(*g->tensors), n)) {
        return qn_fail(err, QN_ENOMEM, "no memory for %" PRIu64 " tensor descriptions", n);
    }
    for (uint32_t i = 0; i < g->n_parts; i++) {
        qn_error e;
        qn_status status = read_part(g, &g->parts[i], &e);
        if (status != QN_OK && g->n_parts > 1) {
            return qn_fail(err, status, "part %" PRIu32 " of %" PRIu32 ": %s", i + 1, g->n_parts, e.what);
        }
        if (status != QN_OK) {
            return qn_fail(err, status, "%s", e.what);
        }
    }
    return QN_OK;
}
