import { useCallback, useState } from "react";
import { field, parseJson, textField } from "../../../../src/contract/json.ts";
import { forget, readStored, store, storedKeys } from "../../../parts/stored.ts";
import type { DiffFile } from "./files.ts";

const PREFIX = "svc-viewed:";
/** The number of change requests whose marks are stored. */
const STORED_MAX = 20;

/** The versions of viewed files by path. A file that has changed since is no longer viewed. */
export function useViewed(crId: string) {
  const [marks, setMarks] = useState(() => read(crId));
  const isViewed = useCallback((file: DiffFile) => marks.get(keyOf(file)) === file.version, [marks]);
  const setViewed = useCallback(
    (file: DiffFile, viewed: boolean) =>
      setMarks((before) => {
        const after = new Map(before);
        if (viewed) after.set(keyOf(file), file.version);
        else after.delete(keyOf(file));
        write(crId, after);
        return after;
      }),
    [crId],
  );
  return { isViewed, setViewed };
}

/** A file whose type changed appears both as deleted and as added. */
function keyOf({ path, status }: DiffFile): string {
  return `${status === "deleted" ? "-" : "+"}${path}`;
}

function read(crId: string): Map<string, string> {
  const kept = field(parseJson(readStored(PREFIX + crId) ?? ""), "files");
  return new Map(Object.keys(Object(kept)).map((path) => [path, textField(kept, path)]));
}

function write(crId: string, marks: ReadonlyMap<string, string>): void {
  for (const old of others(crId).slice(STORED_MAX - 1)) forget(old);
  store(PREFIX + crId, JSON.stringify({ at: new Date().toISOString(), files: Object.fromEntries(marks) }));
}

/** Storage keys of the marks of other change requests, the newest first. */
function others(crId: string): string[] {
  const at = (key: string) => textField(parseJson(readStored(key) ?? ""), "at");
  return storedKeys()
    .filter((key) => key.startsWith(PREFIX) && key !== PREFIX + crId)
    .sort((a, b) => (at(a) < at(b) ? 1 : -1));
}
