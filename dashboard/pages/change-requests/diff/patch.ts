import { readName, splitNames } from "./file-name.ts";

/** The part of a patch for one file. */
export interface PatchFile {
  /** Bytes that are not UTF-8 are replaced with U+FFFD. */
  path: string;
  status: "added" | "modified" | "deleted" | "renamed";
  /** The name before the change: another one only if the file was renamed. */
  previousPath: string;
  /** Octal file modes; null if the patch has none. */
  oldMode: string | null;
  newMode: string | null;
  /** Blob ids before and after; null if only the mode changed. */
  oldId: string | null;
  newId: string | null;
  binary: boolean;
  additions: number;
  deletions: number;
  /** The lines before the first hunk. */
  head: string[];
  hunks: Hunk[];
}

export interface Hunk {
  /** `@@ -1,3 +1,4 @@ …` */
  header: string;
  /** The enclosing function, as git detects it. */
  section: string;
  oldStart: number;
  newStart: number;
  /** Each begins with its sign: a space, `+`, `-`, or `\` for git's remark on the previous line. */
  lines: string[];
}

export interface PatchParser {
  /** Parses the next chunk, which may end anywhere. */
  take(text: string): void;
  /** Parses an incomplete last line, and returns all files. */
  end(): PatchFile[];
}

const FILE = "diff --git ";
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/s;
const INDEX = /^index ([0-9a-f]+)\.\.([0-9a-f]+)(?: (\d{6}))?$/;
const RENAME_FROM = "rename from ";
const RENAME_TO = "rename to ";
const MODE = /^(old mode|new mode|new file mode|deleted file mode) (\d{6})$/;

/**
 * Parses the output of `git diff`, without copies. The line counts in hunk headers determine where hunks end, so that content
 * which looks like a header is not parsed as one. Lines end with LF only: a CR is content. Bytes of binary files are
 * skipped.
 */
export function createPatchParser(): PatchParser {
  const files: PatchFile[] = [];
  let file: PatchFile | undefined;
  let hunk: Hunk | undefined;
  /** Remaining lines of the hunk on each side. */
  let before = 0;
  let after = 0;
  /** An incomplete line. */
  let rest = "";

  return {
    take(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) read(line);
    },
    end() {
      if (rest !== "") read(rest);
      rest = "";
      return files;
    },
  };

  function read(line: string): void {
    if (before > 0 || after > 0) readContent(line);
    else if (hunk && line.startsWith("\\")) hunk.lines.push(line);
    else if (line.startsWith(FILE)) begin(line);
    else if (file) readHead(file, line);
  }

  function begin(line: string): void {
    hunk = undefined;
    const path = splitNames(line.slice(FILE.length));
    file = {
      path,
      previousPath: path,
      status: "modified",
      ...{ oldMode: null, newMode: null, oldId: null, newId: null },
      ...{ binary: false, additions: 0, deletions: 0, head: [line], hunks: [] },
    };
    files.push(file);
  }

  function readHead(into: PatchFile, line: string): void {
    const found = into.binary ? null : HUNK.exec(line);
    if (found) {
      const [, oldStart, oldCount = "1", newStart, newCount = "1", section = ""] = found;
      hunk = { header: line, section, oldStart: Number(oldStart), newStart: Number(newStart), lines: [] };
      into.hunks.push(hunk);
      before = Number(oldCount);
      after = Number(newCount);
      return;
    }
    if (into.binary) return;
    into.head.push(line);
    if (line.startsWith("GIT binary patch") || line.startsWith("Binary files ")) into.binary = true;
    else readMode(into, line);
  }

  function readContent(line: string): void {
    hunk?.lines.push(line);
    const sign = line[0];
    if (sign === "\\") return;
    if (sign !== "+") before--;
    if (sign !== "-") after--;
    if (!file) return;
    if (sign === "+") file.additions++;
    if (sign === "-") file.deletions++;
  }
}

function readMode(file: PatchFile, line: string): void {
  if (line.startsWith(RENAME_FROM)) file.previousPath = readName(line.slice(RENAME_FROM.length));
  if (line.startsWith(RENAME_TO)) {
    file.path = readName(line.slice(RENAME_TO.length));
    file.status = "renamed";
  }
  const index = INDEX.exec(line);
  if (index) {
    file.oldId = index[1] ?? null;
    file.newId = index[2] ?? null;
    file.oldMode ??= file.status === "added" ? null : (index[3] ?? null);
    file.newMode ??= file.status === "deleted" ? null : (index[3] ?? null);
    return;
  }
  const [, word, mode = null] = MODE.exec(line) ?? [];
  if (word === "old mode" || word === "deleted file mode") file.oldMode = mode;
  if (word === "new mode" || word === "new file mode") file.newMode = mode;
  if (word === "new file mode") file.status = "added";
  if (word === "deleted file mode") file.status = "deleted";
}
