# tests/e2e/test_<noun>.py each become a ctest e2e/<noun>, run by pytest against the program that this build makes.
find_program(QUERN_PYTHON NAMES python3 python)
if(QUERN_PYTHON)
    execute_process(COMMAND ${QUERN_PYTHON} -c "import pytest" RESULT_VARIABLE no_pytest OUTPUT_QUIET ERROR_QUIET)
endif()

if(NOT TARGET quern_cli OR NOT QUERN_PYTHON OR no_pytest)
    message(STATUS "no end-to-end tests: they need the program, and a Python with pytest")
else()
    file(GLOB e2e_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/e2e/test_*.py)
    foreach(file IN LISTS e2e_files)
        get_filename_component(noun ${file} NAME_WE)
        string(REGEX REPLACE "^test_" "" noun ${noun})
        add_test(NAME e2e/${noun} COMMAND ${QUERN_PYTHON} -m pytest -q -rs -p no:cacheprovider ${file})
        set_tests_properties(e2e/${noun} PROPERTIES LABELS "e2e" TIMEOUT 600
                             ENVIRONMENT "QUERN_BIN=$<TARGET_FILE:quern_cli>;PYTHONDONTWRITEBYTECODE=1")
    endforeach()
endif()
