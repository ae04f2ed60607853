# bench/<noun>_bench.c each become a program quern_<noun>_bench that links the kernels and the tokenizers; built by name
# only, since nobody wants timings in passing.
file(GLOB bench_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*_bench.c)
foreach(file IN LISTS bench_files)
    get_filename_component(noun ${file} NAME_WE)
    add_executable(quern_${noun} EXCLUDE_FROM_ALL ${file})
    target_include_directories(quern_${noun} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(quern_${noun} PRIVATE quern_backend quern_text quern_grammar)
    set_target_properties(quern_${noun} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endforeach()

# Models with random weights. An end-to-end test makes one too.
add_executable(quern_make_model ${CMAKE_SOURCE_DIR}/bench/make_model.c)
target_include_directories(quern_make_model PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(quern_make_model PRIVATE quern_gguf)
set_target_properties(quern_make_model PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
if(NOT QUERN_TESTS)
    set_target_properties(quern_make_model PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()
