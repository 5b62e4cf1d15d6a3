#pragma once
// Which sanitizers this code is compiled with: gcc and clang say it differently.

#if defined(__has_feature)
#define LOOM_HAS_FEATURE(feature) __has_feature(feature)
#else
#define LOOM_HAS_FEATURE(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || LOOM_HAS_FEATURE(address_sanitizer)
#define LOOM_ADDRESS_SANITIZER 1
#else
#define LOOM_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || LOOM_HAS_FEATURE(thread_sanitizer)
#define LOOM_THREAD_SANITIZER 1
#else
#define LOOM_THREAD_SANITIZER 0
#endif
