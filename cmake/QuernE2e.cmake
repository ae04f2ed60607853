# tests/e2e/test_<noun>.py each become a ctest e2e/<noun>, run by pytest against the program that this build makes. Those
# that try the program itself are short tests too, so that the sanitizers see it from main() on.
if(TARGET quern_cli)
    file(GLOB e2e_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/e2e/test_*.py)
    foreach(file IN LISTS e2e_files)
        get_filename_component(noun ${file} NAME_WE)
        string(REGEX REPLACE "^test_" "" noun ${noun})
        add_test(NAME e2e/${noun} COMMAND ${CMAKE_SOURCE_DIR}/scripts/run-pytest ${file})
        set(labels e2e)
        if(NOT noun MATCHES "^(install|scripts)$")
            list(APPEND labels short)
        endif()
        set_tests_properties(e2e/${noun} PROPERTIES LABELS "${labels}" TIMEOUT 600 SKIP_RETURN_CODE 77
                             ENVIRONMENT "QUERN_BIN=$<TARGET_FILE:quern_cli>;QUERN_BUILD=${CMAKE_BINARY_DIR}")
    endforeach()
endif()

# The layers of the tree itself.
add_test(NAME layers/rules COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-layers)
add_test(NAME layers/self_test COMMAND ${CMAKE_SOURCE_DIR}/scripts/check-layers --self-test)
