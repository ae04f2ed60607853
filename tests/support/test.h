/* What every test program includes: cmocka with the headers that it wants before it, and the way to shared data.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_SUPPORT_TEST_H
#define QN_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The path of a file of the shared test data ("models/stories260K.gguf"), in a static buffer; NULL when absent.
 * The folder is $QUERN_SHARED, else ../shared beside the tree. */
const char *qn_test_data(const char *relative);

/* Ends the running test as skipped and prints one line that the summary counts: "SKIP <test>: <why>". */
#define QN_TEST_SKIP(why)                                                                          \
    do {                                                                                           \
        fprintf(stderr, "SKIP %s: %s\n", __func__, (why));                                         \
        skip();                                                                                    \
    } while (0)

/* path = qn_test_data(relative), or the test is skipped. */
#define QN_TEST_NEED(path, relative)                                                               \
    const char *path = qn_test_data(relative);                                                     \
    do {                                                                                           \
        if (path == NULL) {                                                                        \
            QN_TEST_SKIP("no shared data: " relative);                                             \
        }                                                                                          \
    } while (0)

/* Reads a whole file; *n_bytes is set; a NUL follows the data. Fails the test when it cannot. For free(). */
char *qn_test_read_file(const char *path, size_t *n_bytes);

/* A fresh path for a temporary file, in a static buffer ("/tmp/quern-test-XXXX-name"). */
const char *qn_test_temp(const char *name);

#endif
