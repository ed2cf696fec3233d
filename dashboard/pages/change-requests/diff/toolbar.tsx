import { type ReactNode, useState } from "react";
import { useSearchParams } from "wouter";
import { Kbd } from "../../../parts/kbd.tsx";
import { Segments } from "../../../parts/segments.tsx";
import { readStored, store } from "../../../parts/stored.ts";
import type { Where } from "../queries.ts";
import type { DiffFile } from "./files.ts";
import { Since } from "./since.tsx";

const KEY = "svc-diff-layout";
type Layout = "unified" | "split";
const LAYOUTS = [
  ["unified", "Unified"],
  ["split", "Split"],
] as const;

/** The layout of the diff, stored in this browser. */
export function useLayoutChoice(): [Layout, (layout: Layout) => void] {
  const [layout, setLayout] = useState<Layout>(() => (readStored(KEY) === "split" ? "split" : "unified"));
  return [
    layout,
    (chosen) => {
      store(KEY, chosen);
      setLayout(chosen);
    },
  ];
}

/** Whether changes of whitespace are hidden: the query parameter `w`. */
export function useIgnoreSpace(): [boolean, (ignore: boolean) => void] {
  const [address, setAddress] = useSearchParams();
  const setIgnoreSpace = (ignore: boolean) =>
    setAddress(
      (before) => {
        if (ignore) before.set("w", "1");
        else before.delete("w");
        return before;
      },
      { replace: true },
    );
  return [address.get("w") === "1", setIgnoreSpace];
}

interface Props {
  where: Where;
  /** The button that finishes a review. */
  finish: ReactNode;
  files: readonly DiffFile[];
  viewed: number;
  canSplit: boolean;
  layout: Layout;
  onLayout: (layout: Layout) => void;
  onStep: (by: number) => void;
}

const STEP =
  "inline-flex h-8 items-center gap-1.5 rounded-md border border-edge bg-surface px-2 text-sm hover:bg-raised";

/** A summary of the diff, and its options. */
export function Toolbar({ where, finish, files, viewed, canSplit, layout, onLayout, onStep }: Props) {
  const [ignoreSpace, setIgnoreSpace] = useIgnoreSpace();
  const additions = files.reduce((sum, file) => sum + file.additions, 0);
  const deletions = files.reduce((sum, file) => sum + file.deletions, 0);
  return (
    <div className="z-30 -mx-4 flex flex-wrap items-center gap-x-4 gap-y-2 bg-canvas px-4 py-2 lg:sticky lg:top-0 lg:h-[52px] lg:flex-nowrap">
      <p className="whitespace-nowrap">
        <strong>
          {files.length} {files.length === 1 ? "file" : "files"}
        </strong>{" "}
        <span className="text-ok tabular-nums">+{additions}</span>{" "}
        <span className="text-danger tabular-nums">−{deletions}</span>
      </p>
      <p role="status" className="whitespace-nowrap text-muted text-sm tabular-nums">
        {viewed} of {files.length} viewed
      </p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 lg:ml-auto">
        <Since where={where} />
        <label className="flex items-center gap-1.5 whitespace-nowrap text-sm">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={ignoreSpace}
            onChange={(event) => setIgnoreSpace(event.target.checked)}
          />
          Hide whitespace
        </label>
        {canSplit && <Segments legend="Layout" options={LAYOUTS} value={layout} onChange={onLayout} />}
        <div className="flex gap-1">
          <button type="button" className={STEP} onClick={() => onStep(-1)}>
            Previous<span className="lg:max-xl:sr-only"> file</span> <Kbd>k</Kbd>
          </button>
          <button type="button" className={STEP} onClick={() => onStep(1)}>
            Next<span className="lg:max-xl:sr-only"> file</span> <Kbd>j</Kbd>
          </button>
        </div>
        {finish}
      </div>
    </div>
  );
}
