# Comparisons with other implementations. tests/oracle/<layer>/<noun>_tool.c becomes a program in <build>/oracle/ that
# links that layer, or the whole library where a folder is no layer's (arch compares whole models); each
# tests/oracle/<layer>/test_<noun>.py becomes a ctest oracle/<layer>/<noun>, run by pytest, and finds the programs
# through QUERN_ORACLE_BIN. Python needs what tests/oracle/requirements.txt lists (scripts/py-env), arch what
# tests/oracle/requirements-torch.txt lists; a file whose modules are absent is skipped.

file(GLOB_RECURSE oracle_tools CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/oracle/*_tool.c)
foreach(file IN LISTS oracle_tools)
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR}/tests/oracle ${file})
    string(REGEX REPLACE "/.*" "" layer ${relative})
    get_filename_component(noun ${file} NAME_WE)
    set(library quern)
    if(TARGET quern_${layer})
        set(library quern_${layer})
    endif()
    add_executable(oracle_${noun} ${file})
    target_include_directories(oracle_${noun} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(oracle_${noun} PRIVATE ${library})
    set_target_properties(oracle_${noun} PROPERTIES OUTPUT_NAME ${noun}
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/oracle)
endforeach()

file(GLOB oracle_scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/oracle/*/test_*.py)
foreach(file IN LISTS oracle_scripts)
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(layer ${folder} NAME)
    get_filename_component(noun ${file} NAME_WE)
    string(REGEX REPLACE "^test_" "" noun ${noun})
    add_test(NAME oracle/${layer}/${noun} COMMAND ${CMAKE_SOURCE_DIR}/scripts/run-pytest ${file})
    # They take longest: COST lets them begin first.
    set_tests_properties(oracle/${layer}/${noun} PROPERTIES LABELS "oracle;${layer}" TIMEOUT 1800 COST 1000
                         SKIP_RETURN_CODE 77 ENVIRONMENT "QUERN_ORACLE_BIN=${CMAKE_BINARY_DIR}/oracle")
endforeach()
