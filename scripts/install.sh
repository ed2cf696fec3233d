#!/bin/sh
# Installs svc, the command line, for the current user: into ~/.svc/bin, with a link in /usr/local/bin or ~/.local/bin.
# A server sends this script with its own address and the public key of its releases filled in:
#
#   curl -fsSL https://svc.example.com/install.sh | sh
#
# docs/install.md describes the options and what is verified. The braces around everything make a shell read the whole
# script before it runs any of it: of a download that was cut off, nothing runs.
{

ORIGIN=''
PUBLIC_KEY=''

SYSTEM_BIN=/usr/local/bin
APT_HELPER=/usr/lib/apt/apt-helper
# ARCHIVE_BYTES_MAX and SUMS_BYTES_MAX of src/contract/release.ts.
ARCHIVE_MAX_BYTES=45000000
TEXT_MAX_BYTES=65536
# A signature that is known to be valid: shows whether a program can verify Ed25519.
PROBE_KEY='MCowBQYDK2VwAyEA9CJTW/xdEO5kN0zB4CQtJOKgxZrpo9YGTNAZaVTdaz8='
PROBE_SIGNATURE='EdhI3xjdWur+Aq6f+5RcMzQHv/8eLlcqNkjL+r7DD+2hzUMgbgVDjW2drsTP2yL0UcRXNqjEEbcEpyjj2iOOCQ=='

usage() {
  cat <<'END'
Installs svc for the current user. Needs no root and never runs sudo.

Usage: install.sh [options]          from a pipe: curl -fsSL <server>/install.sh | sh -s -- [options]

  --version <version>   Install this version instead of the newest (SVC_INSTALL_VERSION)
  --dir <folder>        Install into this folder, without a link, instead of ~/.svc/bin (SVC_INSTALL_DIR)
  --no-modify-path      Do not offer to change your shell's PATH
  --unchecked           Install even if no program here can verify the signature; the checksum is still
                        verified (SVC_INSTALL_UNCHECKED=1)
  --dry-run             Print what would be done, and change nothing
  --help                Show this text

A copy of this script that no server has filled in also needs SVC_INSTALL_URL, the address of a server, and
SVC_INSTALL_KEY, the public key of its releases: the base64 line of its PEM file.
END
}

main() {
  set -eu
  umask 022
  version=${SVC_INSTALL_VERSION:-}
  folder=${SVC_INSTALL_DIR:-}
  unchecked=${SVC_INSTALL_UNCHECKED:-}
  ask_path=yes dry_run='' staging='' path_file='' path_line='' link=''
  read_options "$@"
  [ -z "$show_help" ] || { usage; return 0; }
  check_settings
  find_platform
  [ -n "$version" ] || find_version
  archive=svc-$version-$platform.tar.xz
  choose_link
  if [ -n "$dry_run" ]; then print_plan; return 0; fi
  open_staging
  download
  verify_signature
  verify_checksum
  unpack
  try_binary
  put_in_place
  make_link
  check_path
  write_record
  print_result
}

read_options() {
  show_help=''
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --dir)
        [ $# -ge 2 ] || bad_usage "$1 needs a value."
        set_option "$1" "$2"
        shift
        ;;
      --version=* | --dir=*) set_option "${1%%=*}" "${1#*=}" ;;
      --no-modify-path) ask_path='' ;;
      --unchecked) unchecked=1 ;;
      --dry-run) dry_run=yes ;;
      --help | -h) show_help=yes ;;
      *) bad_usage "Unknown option: $1" ;;
    esac
    shift
  done
}

set_option() {
  [ -n "$2" ] || bad_usage "$1 needs a value."
  case $1 in
    --version) version=$2 ;;
    --dir) folder=$2 ;;
  esac
}

check_settings() {
  ORIGIN=${SVC_INSTALL_URL:-$ORIGIN}
  PUBLIC_KEY=${SVC_INSTALL_KEY:-$PUBLIC_KEY}
  ORIGIN=${ORIGIN%/}
  [ -n "$ORIGIN" ] || fail "This copy of the script names no server." \
    "Get it from your server: curl -fsSL <server>/install.sh | sh" "or set SVC_INSTALL_URL to the server's address."
  case $ORIGIN in
    http://* | https://*) ;;
    *) fail "SVC_INSTALL_URL must begin with http:// or https://, not \"$ORIGIN\"." ;;
  esac
  case $ORIGIN in
    *://localhost | *://localhost[:/]* | *://127.* | *://\[::1\]*)
      # a server on this machine is never behind a proxy
      unset http_proxy HTTP_PROXY https_proxy HTTPS_PROXY all_proxy ALL_PROXY
      no_proxy='*' NO_PROXY='*'
      export no_proxy NO_PROXY
      ;;
  esac
  [ -n "${HOME:-}" ] || fail "HOME is not set, so there is no folder to install into."
  case $version in
    *[!0-9A-Za-z.+-]* | -* | .*) bad_usage "Not a version: $version" ;;
  esac
  case $HOME$folder in
    *[[:cntrl:]]*) fail "The name of the folder contains control characters." ;;
  esac
  case $folder in
    '') bin=$HOME/.svc/bin ;;
    /*) bin=${folder%/} ;;
    *) bin=$PWD/${folder%/} ;;
  esac
}

# Sets `platform` to the name that archives have.
find_platform() {
  system=$(uname -s) machine=$(uname -m)
  case $system in
    Linux) os=linux ;;
    Darwin) os=macos ;;
    MINGW* | MSYS* | CYGWIN* | Windows_NT)
      fail "This script does not install on Windows." "Unpack svc-<version>-windows-x64.zip from $ORIGIN/releases/."
      ;;
    *) unsupported ;;
  esac
  case $machine in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) unsupported ;;
  esac
  # a 32-bit system can run on a 64-bit kernel
  if [ "$os" = linux ] && [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 32 ]; then unsupported; fi
  # a terminal under Rosetta reports x86_64
  if [ "$os$arch" = macosx64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || echo 0)" = 1 ]; then arch=arm64; fi
  if [ "$os$arch" = linuxx64 ] && grep -q '^flags' /proc/cpuinfo 2>/dev/null && ! grep -q sse4_2 /proc/cpuinfo; then
    fail "svc needs a processor with SSE4.2, which this one does not have."
  fi
  platform=$os-$arch
  if [ "$os" = linux ] && is_musl; then platform=$platform-musl; fi
}

unsupported() {
  fail "svc has no build for this machine ($system $machine)." \
    "There are builds for Linux and macOS, on x64 (x86_64) and arm64 (aarch64)."
}

# The C library that programs here are linked with: of a Debian with an extra musl, it is still glibc.
is_musl() {
  case $(ldd --version 2>&1 || true) in
    *musl*) return 0 ;;
    *[Gg][Ll][Ii][Bb][Cc]* | *"GNU libc"* | *"Free Software Foundation"*) return 1 ;;
  esac
  # the loader of the shell, by name in its first bytes
  case $(dd if=/bin/sh bs=4096 count=1 2>/dev/null | LC_ALL=C tr -cd '[:print:]') in
    */ld-musl-*) return 0 ;;
    */ld-linux*) return 1 ;;
  esac
  # a static shell
  for loader in /lib/ld-linux* /lib64/ld-linux*; do [ ! -e "$loader" ] || return 1; done
  for loader in /lib/ld-musl-*; do [ ! -e "$loader" ] || return 0; done
  return 1
}

find_version() {
  version=$(print_text "$ORIGIN/releases/latest") || fail "Cannot read $ORIGIN/releases/latest." \
    "Check that the address is that of an svc server, and that the server has a release."
  case $version in
    '' | *[!0-9A-Za-z.+-]* | -* | .*) fail "$ORIGIN/releases/latest is not a version." ;;
  esac
}

# The folder of the link: one that has it, else the system's if it is writable, else the user's own.
choose_link() {
  [ -z "$folder" ] || return 0
  for place in "$SYSTEM_BIN" "$HOME/.local/bin"; do
    if is_own_link "$place/svc" && [ -w "$place" ]; then link=$place/svc; return 0; fi
  done
  for place in "$SYSTEM_BIN" "$HOME/.local/bin"; do
    if [ "$place" = "$SYSTEM_BIN" ] && ! { [ -d "$place" ] && [ -w "$place" ]; }; then continue; fi
    if is_free "$place/svc"; then link=$place/svc; return 0; fi
    note "$place/svc belongs to another installation, and is left as it is."
  done
}

is_own_link() { [ -L "$1" ] && [ "$(readlink "$1")" = "$bin/svc" ]; }

# A link to nothing is free: it was left by an installation that is gone.
is_free() { [ ! -e "$1" ]; }

print_plan() {
  cat <<END
svc $version for $platform would be installed.
  download  $ORIGIN/releases/$version/$archive
  verify    SHA256SUMS and its signature
  program   $bin/svc
  link      ${link:-none}
  record    $HOME/.svc/install.json
END
}

# A folder beside the target: a rename between file systems is not atomic, and /tmp may not be executable.
open_staging() {
  mkdir -p "$bin" "$HOME/.svc" 2>/dev/null || fail "Cannot create $bin." "Choose another folder with --dir."
  [ -w "$bin" ] || fail "Cannot write to $bin." "Choose another folder with --dir."
  staging=$bin/.svc.new-$$
  trap 'rm -rf "$staging"' EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  rm -rf "$staging"
  (umask 077 && mkdir "$staging") || fail "Cannot write to $bin." "Choose another folder with --dir."
}

download() {
  base=$ORIGIN/releases/$version
  say "Downloading svc $version for $platform from $ORIGIN"
  fetch "$base/SHA256SUMS" "$staging/SHA256SUMS" "$TEXT_MAX_BYTES" ||
    fail "Cannot download $base/SHA256SUMS." "Check that the server has this version: $ORIGIN/releases/latest names the newest."
  fetch "$base/SHA256SUMS.sig" "$staging/SHA256SUMS.sig" "$TEXT_MAX_BYTES" ||
    fail "Cannot download $base/SHA256SUMS.sig." "Without its signature, the release is not installed."
  expected=$(listed_sum) || fail "The release $version has no build for $platform." "$base/SHA256SUMS lists its files."
  fetch "$base/$archive" "$staging/archive.tar.xz" "$ARCHIVE_MAX_BYTES" ||
    fail "Cannot download $base/$archive." "Run the same command again."
}

# Prints the sum of the archive, which must be listed once.
listed_sum() {
  found=''
  while read -r sum name; do
    if [ "${name#\*}" = "$archive" ]; then
      [ -z "$found" ] || return 1
      found=$sum
    fi
  done <"$staging/SHA256SUMS"
  case $found in
    *[!0-9a-f]*) return 1 ;;
  esac
  [ "${#found}" = 64 ] && printf '%s\n' "$found"
}

verify_signature() {
  if [ -z "$PUBLIC_KEY" ]; then
    signature_unchecked "no public key is known." "Set SVC_INSTALL_KEY to the base64 line of $ORIGIN/releases/release-key.pub."
    return 0
  fi
  printf 'svc\n' >"$staging/probe"
  printf '%s\n' "$PROBE_SIGNATURE" >"$staging/probe.sig"
  for program in openssl /opt/homebrew/opt/openssl@3/bin/openssl /usr/local/opt/openssl@3/bin/openssl node; do
    can_verify "$program" || continue
    verifies "$program" "$PUBLIC_KEY" "$staging/SHA256SUMS" "$staging/SHA256SUMS.sig" ||
      fail "The signature of the release $version is wrong. Nothing was installed." \
        "Its files were changed, or were signed with another key than this server's. Tell the operator of $ORIGIN."
    say "Verified the signature with $program"
    return 0
  done
  signature_unchecked "no program here can verify Ed25519 ($(openssl version 2>/dev/null || echo 'openssl is not installed'))." \
    "Install OpenSSL 3 (macOS: brew install openssl@3) or Node, and run the command again."
}

signature_unchecked() {
  [ "$unchecked" = 1 ] || fail "The signature was not checked: $1" "$2" \
    "Or install without this check: --unchecked, or SVC_INSTALL_UNCHECKED=1 before sh. The checksum is still verified," \
    "which finds a damaged download, but not a server that sends another program."
  note "The signature was not checked, only the checksum: $1 docs/install.md describes how to check it later."
}

# Whether a program accepts a valid signature, and only that one.
can_verify() {
  have "$1" && verifies "$1" "$PROBE_KEY" "$staging/probe" "$staging/probe.sig" &&
    ! verifies "$1" "$PROBE_KEY" "$staging/SHA256SUMS" "$staging/probe.sig"
}

# verifies <program> <public key> <file> <file with the signature in base64>
verifies() {
  case $1 in
    *node)
      "$1" -e 'const [key, file, signature] = process.argv.slice(1).map((word, at) => at > 0 ? require("fs").readFileSync(word) : word);
        const spki = { key: Buffer.from(key, "base64"), format: "der", type: "spki" };
        process.exit(require("crypto").verify(null, file, spki, Buffer.from(String(signature), "base64")) ? 0 : 1)' \
        "$2" "$3" "$4" 2>/dev/null
      ;;
    *)
      printf '%s\n' '-----BEGIN PUBLIC KEY-----' "$2" '-----END PUBLIC KEY-----' >"$staging/key.pem"
      "$1" base64 -d -A -in "$4" -out "$staging/signature" 2>/dev/null &&
        "$1" pkeyutl -verify -pubin -inkey "$staging/key.pem" -rawin -in "$3" -sigfile "$staging/signature" >/dev/null 2>&1
      ;;
  esac
}

verify_checksum() {
  actual=$(sha256_of "$staging/archive.tar.xz")
  [ "$actual" = "$expected" ] || fail "The checksum of $archive is wrong. Nothing was installed." \
    "The download is damaged or was changed. Run the same command again; if it stays, tell the operator of $ORIGIN."
}

sha256_of() {
  if have sha256sum; then sum=$(sha256sum <"$1")
  elif have shasum; then sum=$(shasum -a 256 <"$1")
  elif have openssl; then sum=$(openssl dgst -sha256 -r <"$1")
  else fail "Cannot verify the download: sha256sum, shasum and openssl are not installed." "Install one of them."
  fi
  printf '%s\n' "${sum%% *}"
}

unpack() {
  mkdir "$staging/unpacked"
  new=$staging/unpacked/svc
  (cd "$staging/unpacked" && extract ../archive.tar.xz) 2>/dev/null || true
  { [ -f "$new" ] && [ ! -L "$new" ]; } || fail "Cannot unpack $archive." "Install tar and xz (Debian: apt-get install xz-utils), and run the command again."
  chmod 755 "$new"
}

# Extracts svc with the first program that can: a small Debian has only apt's, and the tar of macOS needs no xz.
extract() {
  if have xz; then xz -dc <"$1" | tar -xf - svc
  elif [ -x "$APT_HELPER" ]; then "$APT_HELPER" cat-file "$1" | tar -xf - svc
  else tar -xJf "$1" svc || python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$1" | tar -xf - svc
  fi
}

# A build for another processor or C library unpacks well, but does not start.
try_binary() {
  printed=$("$new" version 2>&1) || {
    case $platform in
      *-musl) fail "svc does not start here: $printed" "On Alpine it needs: apk add libstdc++ libgcc" ;;
      *) fail "svc does not start here: $printed" "Nothing was installed. Please report this with the output of: uname -a" ;;
    esac
  }
  case " $printed " in
    *[!0-9A-Za-z.+-]"$version"[!0-9A-Za-z.+-]*) ;;
    *) fail "The program in $archive is not svc $version. It prints: $printed" "Nothing was installed." ;;
  esac
}

# The earlier program stays as svc.prev, for `svc update --rollback`. A rename replaces a file in one step.
put_in_place() {
  if [ -f "$bin/svc" ] && ! cmp -s "$bin/svc" "$new"; then
    ln "$bin/svc" "$staging/prev" 2>/dev/null || cp -p "$bin/svc" "$staging/prev"
    mv -f "$staging/prev" "$bin/svc.prev"
  fi
  mv -f "$new" "$bin/svc"
}

make_link() {
  [ -n "$link" ] || return 0
  mkdir -p "${link%/*}" && ln -s "$bin/svc" "${link%/*}/.svc.new-$$" && mv -f "${link%/*}/.svc.new-$$" "$link" || {
    rm -f "${link%/*}/.svc.new-$$"
    note "Cannot create the link $link. The program is $bin/svc."
    link=''
  }
}

# Offers to put the folder on the PATH, on a terminal and only after a yes.
check_path() {
  on_path=$bin
  [ -z "$link" ] || on_path=${link%/*}
  case ":$PATH:" in
    *":$on_path:"*) on_path=''; return 0 ;;
  esac
  path_for_shell
  if [ -n "$ask_path" ] && [ -z "${CI:-}" ] && (: </dev/tty) 2>/dev/null && ! grep -qxF "$line" "$file" 2>/dev/null; then
    printf '%s is not on your PATH. Add it in %s? [y/N] ' "$on_path" "$file" >/dev/tty
    read -r answer </dev/tty || answer=''
    case $answer in
      [Yy] | [Yy][Ee][Ss])
        mkdir -p "${file%/*}" && printf '%s\n' "$line" >>"$file" && path_file=$file path_line=$line
        ;;
    esac
  fi
}

# Sets `file` to the start file of the user's shell and `line` to what belongs there.
path_for_shell() {
  line="export PATH=$(shell_word "$on_path"):\"\$PATH\""
  case ${SHELL:-} in
    */zsh) file=${ZDOTDIR:-$HOME}/.zshrc ;;
    */bash) if [ "$os" = macos ]; then file=$HOME/.bash_profile; else file=$HOME/.bashrc; fi ;;
    */fish) file=$HOME/.config/fish/config.fish line="fish_add_path $(shell_word "$on_path")" ;;
    *) file=$HOME/.profile ;;
  esac
}

# What `svc update` and `svc uninstall` use. An earlier line for the PATH stays recorded.
write_record() {
  record=$HOME/.svc/install.json
  path_json=null
  [ -z "$path_file" ] || path_json="{\"file\": $(json "$path_file"), \"line\": $(json "$path_line")}"
  if [ -z "$path_file" ] && [ -f "$record" ]; then
    earlier=$(sed -n 's/^  "path_line": \({.*}\)$/\1/p' "$record")
    path_json=${earlier:-null}
  fi
  key_json=null links_json='[]'
  [ -z "$PUBLIC_KEY" ] || key_json=$(json "$PUBLIC_KEY")
  [ -z "$link" ] || links_json="[$(json "$link")]"
  cat >"$staging/install.json" <<END
{
  "version": $(json "$version"),
  "platform": $(json "$platform"),
  "distribution": "script",
  "files": [$(json "$bin/svc"), $(json "$bin/svc.prev")],
  "links": $links_json,
  "source": $(json "$ORIGIN"),
  "public_key": $key_json,
  "path_line": $path_json
}
END
  cp "$staging/install.json" "$record.new-$$" && mv -f "$record.new-$$" "$record"
}

print_result() {
  say "Installed svc $version: $bin/svc"
  [ -z "$link" ] || say "Linked from $link"
  command=svc
  if [ -n "$path_file" ]; then say "Open a new terminal, which has svc on its PATH."
  elif [ -n "$on_path" ]; then
    command=$on_path/svc
    say "" "$on_path is not on your PATH. Add it with this line:" "" "  echo $(shell_word "$line") >> $(shell_word "$file")"
  else
    first=$(command -v svc || true)
    case $first in
      '' | "$link" | "$bin/svc") ;;
      *) note "Another svc comes first on your PATH: $first" ;;
    esac
  fi
  say "" "Sign in to this server:" "" "  $(shell_word "$command") login --api $(shell_word "$ORIGIN/v1")"
}

# fetch <url> <file> <most bytes>: fails for an error of the server, a download that was cut off, and a larger one.
fetch() {
  # the limit of the shell applies to every program; POSIX counts it in blocks of 512 bytes
  (
    ulimit -f $(($3 / 512 + 1))
    if have curl; then
      protocols='=http,https'
      case $ORIGIN in https://*) protocols='=https' ;; esac
      curl -fsSL --proto "$protocols" --proto-redir "$protocols" --max-redirs 3 --max-filesize "$3" \
        --connect-timeout 15 --speed-limit 1 --speed-time 30 --retry 2 -o "$2" "$1"
    elif have wget; then
      # only GNU's: some builds of busybox crash with -T
      case $(wget --version 2>&1) in
        *GNU*) wget -q -T 30 -t 3 -O "$2" "$1" ;;
        *) wget -q -O "$2" "$1" ;;
      esac
    else
      fail "Cannot download: curl and wget are not installed." "Install one of them."
    fi
  )
}

# Prints a text of the server.
print_text() {
  text_file=$(mktemp) || return 1
  if fetch "$1" "$text_file" "$TEXT_MAX_BYTES"; then cat "$text_file"; rm -f "$text_file"; else
    rm -f "$text_file"
    return 1
  fi
}

have() { command -v "$1" >/dev/null 2>&1; }

# A word as the shell reads it.
shell_word() {
  case $1 in
    *[!0-9A-Za-z/._:@%+=,-]*) printf "'%s'\n" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s\n' "$1" ;;
  esac
}

json() { printf '"%s"' "$(printf '%s\n' "$1" | sed 's/[\\"]/\\&/g')"; }

say() { printf '%s\n' "$@"; }
note() { printf 'note: %s\n' "$@" >&2; }

fail() {
  printf 'svc: %s\n' "$1" >&2
  shift
  for more in "$@"; do printf '     %s\n' "$more" >&2; done
  exit 1
}

bad_usage() {
  printf 'svc: %s\n     --help lists the options.\n' "$1" >&2
  exit 2
}

main "$@"
}
