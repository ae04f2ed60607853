# Comparisons with other implementations. tests/oracle/<layer>/<noun>_tool.c becomes a program in <build>/oracle/ that
# links that layer, or the whole library where a folder is no layer's (arch compares whole models); each folder of
# tests/oracle with test_*.py becomes a ctest oracle/<folder> that runs pytest on it and finds the programs through
# QUERN_ORACLE_BIN. Python needs what tests/oracle/requirements.txt lists (scripts/py-env), arch what
# tests/oracle/requirements-torch.txt lists; a folder whose modules are absent is skipped.

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
set(oracle_folders "")
foreach(file IN LISTS oracle_scripts)
    get_filename_component(folder ${file} DIRECTORY)
    list(APPEND oracle_folders ${folder})
endforeach()
list(REMOVE_DUPLICATES oracle_folders)
foreach(folder IN LISTS oracle_folders)
    get_filename_component(name ${folder} NAME)
    add_test(NAME oracle/${name} COMMAND ${CMAKE_SOURCE_DIR}/scripts/run-pytest ${folder})
    set_tests_properties(oracle/${name} PROPERTIES LABELS "oracle;${name}" TIMEOUT 1800 SKIP_RETURN_CODE 77
                         ENVIRONMENT "QUERN_ORACLE_BIN=${CMAKE_BINARY_DIR}/oracle")
endforeach()
