import { useCallback, useMemo, useRef, useState } from "react";
import type { DiffFile } from "./files.ts";
import { useViewed } from "./viewed.ts";

export type OpenFiles = ReturnType<typeof useOpenFiles>;

/** Which files of a diff are expanded. Viewed files are collapsed, unless the reader expanded them. */
export function useOpenFiles(crId: string) {
  const { isViewed, setViewed: mark } = useViewed(crId);
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [wanted, setWanted] = useState<ReadonlySet<string>>(new Set());
  /** The file that was collapsed last. */
  const folded = useRef<DiffFile>(null);
  const isOpen = useCallback(
    (file: DiffFile) => opened.get(file.path) ?? !isViewed(file),
    [opened, isViewed],
  );
  /** Whether the reader expanded a file that is collapsed by default. */
  const isWanted = useCallback((file: DiffFile) => wanted.has(file.path), [wanted]);
  const setOpen = useCallback((file: DiffFile, isOpen: boolean) => {
    if (!isOpen) folded.current = file;
    setOpened((before) => new Map(before).set(file.path, isOpen));
  }, []);
  const setViewed = useCallback(
    (file: DiffFile, isViewed: boolean) => {
      mark(file, isViewed);
      setOpen(file, !isViewed);
    },
    [mark, setOpen],
  );
  const want = useCallback((file: DiffFile) => setWanted((before) => new Set(before).add(file.path)), []);
  return useMemo(
    () => ({ isViewed, isOpen, isWanted, folded, setOpen, setViewed, want }),
    [isViewed, isOpen, isWanted, setOpen, setViewed, want],
  );
}
