import { readFileSync } from "node:fs";
import { parse, TomlError } from "smol-toml";

const FILE_MAX_BYTES = 1024 * 1024;

/** The file is too large. */
class FileTooLargeError extends Error {
  override readonly name = "FileTooLargeError";
}

/** Parses a TOML file of the operator. @throws an error that `tomlFileFault` explains */
export function readTomlFile(path: string): unknown {
  const bytes = readFileSync(path);
  if (bytes.byteLength > FILE_MAX_BYTES)
    throw new FileTooLargeError(`it is larger than ${FILE_MAX_BYTES} bytes`);
  return parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
}

/** Why a TOML file cannot be read, as a clause without the text of the file, which may contain keys. */
export function tomlFileFault(error: unknown): string {
  if (error instanceof FileTooLargeError) return error.message;
  if (error instanceof TomlError) {
    const [summary = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    return `line ${error.line}, column ${error.column}: ${summary}`;
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "the server's user cannot read it";
  if (code === "EISDIR") return "it is a folder";
  return "it cannot be read as UTF-8";
}
