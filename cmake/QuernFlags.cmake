# Compiler settings that every target of the project shares.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-Og -g")

add_compile_options(-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wundef
                    -Wno-missing-field-initializers -fno-math-errno -fno-common)
add_compile_definitions(_GNU_SOURCE)
if(QUERN_WERROR)
    add_compile_options(-Werror)
endif()

set(QUERN_SANITIZE "" CACHE STRING "comma-separated list for -fsanitize=")
if(QUERN_SANITIZE)
    add_compile_options(-fsanitize=${QUERN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${QUERN_SANITIZE})
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # Instrumented code hides from gcc what bounds a length or sets a variable; the plain builds have these warnings.
        add_compile_options(-Wno-format-truncation -Wno-maybe-uninitialized)
    endif()
endif()

find_package(Threads REQUIRED)
