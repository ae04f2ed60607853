/* Half and bfloat16 conversions, and the plain rows.
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include <math.h>

#include "quant/quant.h"

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float from_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void every_half_survives_the_way_there_and_back(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        float f = qn_f16_to_f32((uint16_t)h);
        if ((h & 0x7fff) > 0x7c00) {
            assert_true(isnan(f));
            assert_true(isnan(qn_f16_to_f32(qn_f32_to_f16(f))));
            assert_int_equal(qn_f32_to_f16(f) >> 15, h >> 15);
        } else {
            assert_int_equal(qn_f32_to_f16(f), h);
        }
    }
}

static void every_bfloat16_survives_the_way_there_and_back(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 65536; b++) {
        float f = qn_bf16_to_f32((uint16_t)b);
        assert_int_equal(bits_of(f), b << 16);
        if (isnan(f)) {
            assert_true(isnan(qn_bf16_to_f32(qn_f32_to_bf16(f))));
        } else {
            assert_int_equal(qn_f32_to_bf16(f), b);
        }
    }
}

static void halves_have_the_values_of_the_standard(void **state)
{
    (void)state;
    static const struct {
        uint16_t half;
        float value;
    } cases[] = {
        {0x0000, 0.0f},       {0x0001, 0x1p-24f}, {0x03ff, 0x1.ff8p-15f}, {0x0400, 0x1p-14f},   {0x3555, 0x1.554p-2f},
        {0x3c00, 1.0f},       {0x3c01, 0x1.004p0f}, {0x7bff, 65504.0f},   {0x7c00, INFINITY},   {0xfc00, -INFINITY},
        {0xc000, -2.0f},      {0x8001, -0x1p-24f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(bits_of(qn_f16_to_f32(cases[i].half)), bits_of(cases[i].value));
        assert_int_equal(qn_f32_to_f16(cases[i].value), cases[i].half);
    }
    assert_int_equal(bits_of(qn_f16_to_f32(0x8000)), 0x80000000u);
    assert_int_equal(qn_f32_to_f16(-0.0f), 0x8000);
}

static void halves_round_to_nearest_even(void **state)
{
    (void)state;
    static const struct {
        float value;
        uint16_t half;
    } cases[] = {
        {0x1.002p0f, 0x3c00},      {0x1.006p0f, 0x3c02},    {0x1.002002p0f, 0x3c01},  {0x1.001ffep0f, 0x3c00},
        {65519.996f, 0x7bff},      {65520.0f, 0x7c00},      {1e30f, 0x7c00},          {-1e30f, 0xfc00},
        {0x1p-25f, 0x0000},        {0x1.000002p-25f, 0x0001}, {0x1.8p-24f, 0x0002},   {0x1.4p-23f, 0x0002},
        {0x1.ffcp-15f, 0x0400},    {0x1.ff9p-15f, 0x03ff},  {1e-40f, 0x0000},         {-1e-40f, 0x8000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(qn_f32_to_f16(cases[i].value), cases[i].half);
    }
}

static void bfloat16_rounds_to_nearest_even(void **state)
{
    (void)state;
    assert_int_equal(qn_f32_to_bf16(from_bits(0x3f808000)), 0x3f80);
    assert_int_equal(qn_f32_to_bf16(from_bits(0x3f818000)), 0x3f82);
    assert_int_equal(qn_f32_to_bf16(from_bits(0x3f808001)), 0x3f81);
    assert_int_equal(qn_f32_to_bf16(from_bits(0x7f7fffff)), 0x7f80); /* the largest float goes over the top */
    assert_int_equal(qn_f32_to_bf16(from_bits(0x7f800001)), 0x7fc0); /* a NaN whose high bits are those of infinity */
    assert_int_equal(qn_f32_to_bf16(from_bits(0x00000001)), 0x0000);
}

static void plain_rows_convert_each_element(void **state)
{
    (void)state;
    float out[3];
    const int8_t i8[3] = {-128, 0, 127};
    const int16_t i16[3] = {-32768, 1, 32767};
    const int32_t i32[3] = {INT32_MIN, -3, INT32_MAX};
    const int64_t i64[3] = {INT64_MIN, 5, INT64_MAX};
    const double f64[3] = {1e300, -0.1, 0.0};
    assert_int_equal(qn_decode_row(QN_TYPE_I8, i8, out, 3, NULL), QN_OK);
    assert_true(out[0] == -128 && out[1] == 0 && out[2] == 127);
    assert_int_equal(qn_decode_row(QN_TYPE_I16, i16, out, 3, NULL), QN_OK);
    assert_true(out[0] == -32768 && out[1] == 1 && out[2] == 32767);
    assert_int_equal(qn_decode_row(QN_TYPE_I32, i32, out, 3, NULL), QN_OK);
    assert_true(out[0] == -0x1p31f && out[1] == -3 && out[2] == 0x1p31f);
    assert_int_equal(qn_decode_row(QN_TYPE_I64, i64, out, 3, NULL), QN_OK);
    assert_true(out[0] == -0x1p63f && out[1] == 5 && out[2] == 0x1p63f);
    assert_int_equal(qn_decode_row(QN_TYPE_F64, f64, out, 3, NULL), QN_OK);
    assert_true(isinf(out[0]) && out[1] == -0.1f && out[2] == 0);
}

static void float_rows_keep_every_bit(void **state)
{
    (void)state;
    const uint32_t in[4] = {0x7f800001, 0x80000000, 0x00000001, 0xffffffff};
    float x[4];
    uint32_t out[4];
    assert_int_equal(qn_decode_row(QN_TYPE_F32, in, x, 4, NULL), QN_OK);
    assert_int_equal(qn_encode_row(QN_TYPE_F32, x, out, 4, NULL, NULL), QN_OK);
    assert_memory_equal(in, out, sizeof in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_survives_the_way_there_and_back),
        cmocka_unit_test(every_bfloat16_survives_the_way_there_and_back),
        cmocka_unit_test(halves_have_the_values_of_the_standard),
        cmocka_unit_test(halves_round_to_nearest_even),
        cmocka_unit_test(bfloat16_rounds_to_nearest_even),
        cmocka_unit_test(plain_rows_convert_each_element),
        cmocka_unit_test(float_rows_keep_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
