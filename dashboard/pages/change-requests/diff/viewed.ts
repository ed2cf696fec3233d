import { useCallback, useState } from "react";
import { field, parseJson, textField } from "../../../../src/contract/json.ts";
import { forget, readStored, store, storedKeys } from "../../../parts/stored.ts";
import type { DiffFile } from "./files.ts";

const PREFIX = "svc-viewed:";
/** Change requests whose marks a browser keeps. */
const KEPT = 20;

/** Which files the reader has seen, by path: what each was then. A file that has changed since is unseen again. */
export function useViewed(crId: string) {
  const [marks, setMarks] = useState(() => read(crId));
  const isViewed = useCallback((file: DiffFile) => marks.get(keyOf(file)) === file.version, [marks]);
  const setViewed = useCallback(
    (file: DiffFile, viewed: boolean) => {
      setMarks((before) => {
        const after = new Map(before);
        if (viewed) after.set(keyOf(file), file.version);
        else after.delete(keyOf(file));
        write(crId, after);
        return after;
      });
    },
    [crId],
  );
  return { isViewed, setViewed };
}

/** A file whose kind changed is a deleted and an added one. */
function keyOf({ path, status }: DiffFile): string {
  return `${status === "deleted" ? "-" : "+"}${path}`;
}

function read(crId: string): Map<string, string> {
  const kept = field(parseJson(readStored(PREFIX + crId) ?? ""), "files");
  return new Map(Object.keys(Object(kept)).map((path) => [path, textField(kept, path)]));
}

function write(crId: string, marks: ReadonlyMap<string, string>): void {
  for (const old of others(crId).slice(KEPT - 1)) forget(old);
  store(PREFIX + crId, JSON.stringify({ at: new Date().toISOString(), files: Object.fromEntries(marks) }));
}

/** Keys of other change requests' marks, the newest first. */
function others(crId: string): string[] {
  const at = (key: string) => textField(parseJson(readStored(key) ?? ""), "at");
  return storedKeys()
    .filter((key) => key.startsWith(PREFIX) && key !== PREFIX + crId)
    .sort((a, b) => (at(a) < at(b) ? 1 : -1));
}
