# The target `fuzzers` is all that is needed: most layers have none, and kernels take long to compile instrumented.
add_custom_target(fuzzers)

# tests/fuzz/<layer>/<noun>_fuzz.c holds LLVMFuzzerTestOneInput(); it links that layer and becomes the program
# fuzz/<layer>_<noun>_fuzz, so that two layers may use one noun.
file(GLOB_RECURSE fuzz_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.c)
foreach(file IN LISTS fuzz_files)
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR}/tests/fuzz ${file})
    string(REGEX REPLACE "/.*" "" layer ${relative})
    get_filename_component(noun ${file} NAME_WE)
    set(target ${layer}_${noun})
    add_executable(${target} ${file})
    add_dependencies(fuzzers ${target})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE quern_${layer})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endforeach()

# tests/fuzz/<layer>/corpus.c writes the seeds of that layer's fuzzers into a folder: fuzz/<layer>_corpus FOLDER.
file(GLOB_RECURSE corpus_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus.c)
foreach(file IN LISTS corpus_files)
    file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR}/tests/fuzz ${file})
    string(REGEX REPLACE "/.*" "" layer ${relative})
    add_executable(${layer}_corpus ${file})
    add_dependencies(fuzzers ${layer}_corpus)
    target_include_directories(${layer}_corpus PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${layer}_corpus PRIVATE quern_${layer})
    set_target_properties(${layer}_corpus PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endforeach()
