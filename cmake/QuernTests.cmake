# tests/unit/<layer>/<noun>_test.c and tests/conform/<layer>/<noun>_test.c each become a program that links that layer
# and cmocka, and a ctest of the same name. Labels: unit or conform, the layer, and `short` unless the file's
# name ends in _long_test.c (the sanitizer runs take the short ones). A file *_pcre_test.c has PCRE2 as its judge: it
# links it and sees QN_HAVE_PCRE2 where it is installed, and says that it skips where it is not. So have
# *_utf8proc_test.c utf8proc and QN_HAVE_UTF8PROC.
find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
pkg_check_modules(PCRE2 IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC IMPORTED_TARGET libutf8proc)

add_library(quern_test_support STATIC ${CMAKE_SOURCE_DIR}/tests/support/test.c)
target_include_directories(quern_test_support PUBLIC ${CMAKE_SOURCE_DIR}/tests/support ${CMAKE_SOURCE_DIR}/src
                           ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(quern_test_support PRIVATE QN_TEST_SHARED_DIR="${CMAKE_SOURCE_DIR}/../shared")
target_link_libraries(quern_test_support PUBLIC PkgConfig::CMOCKA m)

# Tiny models with random weights, for the layers that run models; and, where a test asks for it, a count of the calls of
# the C library's allocator.
add_library(quern_test_models STATIC ${CMAKE_SOURCE_DIR}/tests/support/tiny_model.c ${CMAKE_SOURCE_DIR}/tests/support/npz.c
                                     ${CMAKE_SOURCE_DIR}/tests/support/malloc_count.c)
target_link_libraries(quern_test_models PUBLIC quern_gguf quern_test_support)

function(qn_tests kind)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${kind}/*_test.c)
    foreach(file IN LISTS files)
        file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR}/tests/${kind} ${file})
        string(REGEX REPLACE "/.*" "" layer ${relative})
        get_filename_component(noun ${file} NAME_WE)
        set(target ${kind}_${layer}_${noun})
        if(NOT TARGET quern_${layer})
            continue()
        endif()
        add_executable(${target} ${file})
        target_link_libraries(${target} PRIVATE quern_${layer} quern_test_support)
        if(layer MATCHES "^(model|engine)$")
            target_link_libraries(${target} PRIVATE quern_test_models)
        endif()
        if(noun MATCHES "_pcre_test$" AND PCRE2_FOUND)
            target_link_libraries(${target} PRIVATE PkgConfig::PCRE2)
            target_compile_definitions(${target} PRIVATE QN_HAVE_PCRE2)
        endif()
        if(noun MATCHES "_utf8proc_test$" AND UTF8PROC_FOUND)
            target_link_libraries(${target} PRIVATE PkgConfig::UTF8PROC)
            target_compile_definitions(${target} PRIVATE QN_HAVE_UTF8PROC)
        endif()
        set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        add_test(NAME ${kind}/${layer}/${noun} COMMAND ${target} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
        set(labels ${kind} ${layer})
        if(NOT noun MATCHES "_long_test$")
            list(APPEND labels short)
        endif()
        set_tests_properties(${kind}/${layer}/${noun} PROPERTIES LABELS "${labels}" TIMEOUT 600)
    endforeach()
endfunction()

qn_tests(unit)
qn_tests(conform)
