/* The variables that the tests of values, methods and filters share.
 * SPDX-License-Identifier: MIT */
#ifndef QN_TESTS_JINJA_VARS_H
#define QN_TESTS_JINJA_VARS_H

#define VARS                                                                                               \
    "{\"s\": \"Hello, World\", "                                                                           \
    "\"u\": \"Grüße, 世界 🎉\", "                                                                    \
    "\"e\": \"\", "                                                                                        \
    "\"sp\": \"  two  words\\n next\\t\", "                                                                \
    "\"html\": \"<b>\\\"x\\\" & 'y'</b>\", "                                                               \
    "\"n\": 42, "                                                                                          \
    "\"f\": 3.14159, "                                                                                     \
    "\"big\": 123456789012345678901234567890, "                                                            \
    "\"t\": true, "                                                                                        \
    "\"no\": null, "                                                                                       \
    "\"l\": [3, 1, 2], "                                                                                   \
    "\"ls\": [\"b\", \"A\", \"c\", \"B\", \"a\"], "                                                        \
    "\"d\": {\"b\": 1, \"a\": [1, 2.5, \"x\"], \"C\": null}, "                                             \
    "\"users\": [{\"name\": \"Bob\", \"age\": 31, \"city\": \"Rome\", \"admin\": true, \"tags\": [\"x\", " \
    "\"y\"]}, {\"name\": \"alice\", \"age\": 25, \"city\": \"Oslo\", \"admin\": false, \"tags\": []}, "    \
    "{\"name\": \"Carl\", \"age\": 40, \"city\": \"Rome\"}]}"

#endif
