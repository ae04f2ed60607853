# bench/<noun>_bench.c each become a program quern_<noun>_bench that links the kernels; built by name only, since nobody
# wants timings in passing.
file(GLOB bench_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*_bench.c)
foreach(file IN LISTS bench_files)
    get_filename_component(noun ${file} NAME_WE)
    add_executable(quern_${noun} EXCLUDE_FROM_ALL ${file})
    target_include_directories(quern_${noun} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(quern_${noun} PRIVATE quern_backend)
    set_target_properties(quern_${noun} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endforeach()
