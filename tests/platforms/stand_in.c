/* git.exe, sh.exe or cargo.exe for tests under Wine: runs the script NAME.sh beside it or else the program
   of that name of the Linux machine, with the same arguments, input, folder and variables, and gives back
   its output and its exit code.

   Wine gives no handle on a Linux process, so the program is started by a script that leaves its exit
   code in a file, and that file is waited for.

   Variables: STAND_IN_DIR, a folder for those files (a Linux path); STAND_IN_PREFIX, where Wine's
   drives are; STAND_IN_KEEP leaves the files there, to look at. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

static char *to_utf8(const WCHAR *wide) {
    int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = malloc(size);
    WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
    return text;
}

static const char *variable(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value ? value : otherwise;
}

static int begins_path(const char *at) {
    return isalpha((unsigned char)at[0]) && at[1] == ':' && (at[2] == '\\' || at[2] == '/');
}

/* The text with every C:\a\b and \\?\C:\a\b in it as a path of this machine. */
static char *to_unix(const char *text) {
    const char *prefix = variable("STAND_IN_PREFIX", "");
    char *result = malloc(strlen(text) * (strlen(prefix) + 16) + 1), *out = result;
    for (const char *in = text; *in;) {
        const char *path = in;
        if (!strncmp(path, "\\\\?\\", 4) || !strncmp(path, "//?/", 4)) path += 4;
        int apart = in == text || strchr("=/; \"", in[-1]) != NULL;
        if (!apart || !begins_path(path)) {
            *out++ = *in++;
            continue;
        }
        /* file:///C:/a has one slash too many then */
        if (out - result >= 8 && !strncmp(out - 8, "file:///", 8)) out--;
        if (toupper((unsigned char)path[0]) != 'Z')
            out += sprintf(out, "%s/drive_%c", prefix, tolower((unsigned char)path[0]));
        for (in = path + 2; *in && *in != '"' && *in != ';'; in++) *out++ = *in == '\\' ? '/' : *in;
    }
    *out = 0;
    return result;
}

static void put_quoted(FILE *script, const char *text) {
    fputc('\'', script);
    for (; *text; text++) {
        if (*text == '\'') fputs("'\\''", script);
        else fputc(*text, script);
    }
    fputc('\'', script);
}

static void put_variables(FILE *script) {
    static const char *ours[] = {"PATH", "PATHEXT",  "TEMP", "TMP", "TMPDIR", "COMSPEC",
                                 "OS",   "WINEPREFIX", NULL};
    fprintf(script, "export PATH=/usr/local/bin:/usr/bin:/bin\n");
    for (WCHAR *entry = GetEnvironmentStringsW(); *entry; entry += wcslen(entry) + 1) {
        char *name = to_utf8(entry), *value = strchr(name + 1, '=');
        if (!value) continue;
        *value++ = 0;
        int skip = isdigit((unsigned char)*name);
        for (int index = 0; ours[index]; index++) skip |= !_stricmp(name, ours[index]);
        for (char *at = name; *at; at++) skip |= !(isalnum((unsigned char)*at) || *at == '_');
        if (skip) continue;
        fprintf(script, "export %s=", !strcmp(name, "USERPROFILE") ? "HOME" : name);
        put_quoted(script, !_stricmp(value, "NUL") ? "/dev/null" : to_unix(value));
        fputc('\n', script);
    }
}

static void copy(HANDLE from, HANDLE to) {
    char bytes[65536];
    DWORD read, written;
    while (ReadFile(from, bytes, sizeof bytes, &read, NULL) && read > 0)
        for (char *at = bytes; read > 0 && WriteFile(to, at, read, &written, NULL); at += written)
            read -= written;
}

static HANDLE open_shared(const char *path, DWORD access, DWORD how) {
    DWORD everybody = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    return CreateFileA(path, access, everybody, NULL, how, 0, NULL);
}

static char *in_folder(const char *folder, const char *name) {
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    sprintf(path, "%s\\%s", folder, name);
    return path;
}

static void give(const char *folder, const char *name, DWORD stream) {
    HANDLE file = open_shared(in_folder(folder, name), GENERIC_READ, OPEN_EXISTING);
    if (file == INVALID_HANDLE_VALUE) return;
    copy(file, GetStdHandle(stream));
    CloseHandle(file);
}

int wmain(int count, WCHAR **arguments) {
    WCHAR own[4096];
    GetModuleFileNameW(NULL, own, 4096);
    char *path = to_utf8(own), *program = strrchr(path, '\\') + 1;
    strcpy(strrchr(program, '.'), ".sh");
    char *instead = GetFileAttributesA(path) == INVALID_FILE_ATTRIBUTES ? NULL : to_unix(path);
    *strrchr(program, '.') = 0;

    char folder[4096];
    snprintf(folder, sizeof folder, "Z:%s/%lu-%lu", variable("STAND_IN_DIR", "/tmp"),
             GetCurrentProcessId(), GetTickCount());
    for (char *at = folder; *at; at++) if (*at == '/') *at = '\\';
    CreateDirectoryA(folder, NULL);
    char *place = to_unix(folder);

    HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
    DWORD kind = input ? GetFileType(input) : FILE_TYPE_UNKNOWN;
    HANDLE kept = open_shared(in_folder(folder, "in"), GENERIC_WRITE, CREATE_ALWAYS);
    if (kind == FILE_TYPE_PIPE || kind == FILE_TYPE_DISK) copy(input, kept);
    CloseHandle(kept);

    FILE *script = fopen(in_folder(folder, "run"), "wb");
    if (!script) {
        fprintf(stderr, "%s: can't write in %s\n", program, place);
        return 126;
    }
    WCHAR current[4096];
    GetCurrentDirectoryW(4096, current);
    fprintf(script, "cd ");
    put_quoted(script, to_unix(to_utf8(current)));
    fprintf(script, " || echo 127 >%s/code\nexec 7<%s/in >%s/out 2>%s/err\n", place, place, place,
            place);
    put_variables(script);
    /* There every file that begins with `#!` may be run. */
    for (int index = 1; !strcmp(program, "sh") && index < count; index++) {
        char *path = to_utf8(arguments[index]);
        if (!begins_path(path)) continue;
        fprintf(script, "[ \"$(head -c2 ");
        put_quoted(script, to_unix(path));
        fprintf(script, " 2>/dev/null)\" = '#!' ] && chmod +x ");
        put_quoted(script, to_unix(path));
        fputc('\n', script);
    }
    fprintf(script, instead ? "sh " : "%s", program);
    if (instead) put_quoted(script, instead);
    for (int index = 1; index < count; index++) {
        fputc(' ', script);
        put_quoted(script, to_unix(to_utf8(arguments[index])));
    }
    fprintf(script, " <&7\necho $? >%s/code.new\nmv %s/code.new %s/code\n", place, place, place);
    fclose(script);

    HANDLE nothing = open_shared("NUL", GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING);
    STARTUPINFOA start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES,
                          .hStdInput = nothing, .hStdOutput = nothing, .hStdError = nothing};
    PROCESS_INFORMATION started;
    char line[5000];
    snprintf(line, sizeof line, "sh %s/run", place);
    if (!CreateProcessA("Z:\\bin\\sh", line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &started)) {
        fprintf(stderr, "%s: can't start: %lu\n", program, GetLastError());
        return 126;
    }
    while (GetFileAttributesA(in_folder(folder, "code")) == INVALID_FILE_ATTRIBUTES) Sleep(3);
    FILE *code = fopen(in_folder(folder, "code"), "rb");
    int result = 125;
    if (!code || fscanf(code, "%d", &result) != 1) result = 125;
    if (code) fclose(code);
    give(folder, "out", STD_OUTPUT_HANDLE);
    give(folder, "err", STD_ERROR_HANDLE);
    if (!getenv("STAND_IN_KEEP")) {
        static const char *names[] = {"in", "out", "err", "code", "run"};
        for (int index = 0; index < 5; index++) DeleteFileA(in_folder(folder, names[index]));
        RemoveDirectoryA(folder);
    }
    return result;
}
