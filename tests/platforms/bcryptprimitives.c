/* The one function of bcryptprimitives.dll that Rust's standard library calls; Wine 8 has no such
   library. */
#include <windows.h>
#include <bcrypt.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) {
    while (length > 0) {
        ULONG step = length > 0x10000000 ? 0x10000000 : (ULONG)length;
        if (BCryptGenRandom(NULL, bytes, step, BCRYPT_USE_SYSTEM_PREFERRED_RNG) < 0) return FALSE;
        bytes += step;
        length -= step;
    }
    return TRUE;
}
