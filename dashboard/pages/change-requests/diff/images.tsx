import { useQuery } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useState } from "react";
import { open } from "../../../api/call.ts";
import { chunksOf } from "../../../api/events.ts";
import { messageOf } from "../../../api/failure.ts";
import { path } from "../../../api/path.ts";
import type { DiffFile } from "./files.ts";
import { nameOn, type Place } from "./rows.ts";

/** A larger image is not shown. */
const BYTES_MAX = 10 * 1024 * 1024;
/** How long an image may take to load. */
const LOAD_MS = 60_000;
/** How long an image that is out of sight stays in memory. */
const KEPT_MS = 60_000;

/** The commits of the diff: those before and after the change. */
export const Commits = createContext<{ projectId: string; old: string; new: string } | null>(null);

/** An image before and after the change, with sizes. */
export function Images({ file }: { file: DiffFile }) {
  const sides: Place["side"][] = [
    ...(file.status === "added" ? [] : ["old" as const]),
    ...(file.status === "deleted" ? [] : ["new" as const]),
  ];
  return (
    <div
      className={`grid gap-4 border-line border-b bg-surface p-4 font-sans text-sm ${sides.length > 1 ? "sm:grid-cols-2" : ""}`}
    >
      {sides.map((side) => (
        <Side key={side} file={file} side={side} />
      ))}
    </div>
  );
}

const TITLES = { old: "Before", new: "After" } as const;

function Side({ file, side }: { file: DiffFile; side: Place["side"] }) {
  const commits = useContext(Commits);
  const { data, error } = useQuery({
    queryKey: ["image", commits?.projectId, commits?.[side], nameOn(file, side)],
    queryFn: ({ signal }) => load(commits, file, side, signal),
    enabled: commits !== null,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MS,
    structuralSharing: false,
  });
  const [size, setSize] = useState("");
  const [isBroken, setIsBroken] = useState(false);
  const title = TITLES[side];
  const content: ReactNode = error ? (
    messageOf(error)
  ) : data === undefined ? (
    "Loading the image."
  ) : "note" in data ? (
    data.note
  ) : isBroken ? (
    "The file is not an image that this browser can show."
  ) : (
    <img
      src={data.url}
      alt={`${title} the change`}
      className={`max-h-96 max-w-full border-2 bg-white ${side === "old" ? "border-removed-strong" : "border-added-strong"}`}
      onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
        setSize(`${naturalWidth} × ${naturalHeight} pixels`)
      }
      onError={() => setIsBroken(true)}
    />
  );
  return (
    <figure className="flex min-w-0 flex-col items-center gap-2 text-center text-muted">
      <figcaption className={side === "old" ? "text-danger" : "text-ok"}>{title}</figcaption>
      {content}
      {data && "url" in data && !isBroken && <p>{[size, sizeOf(data.bytes)].filter(Boolean).join(", ")}</p>}
    </figure>
  );
}

type Loaded = { url: string; bytes: number } | { note: string };

async function load(
  commits: { projectId: string; old: string; new: string } | null,
  file: DiffFile,
  side: Place["side"],
  signal: AbortSignal,
): Promise<Loaded> {
  if (commits === null) return { note: "" };
  const query = new URLSearchParams({ ref: commits[side], path: nameOn(file, side) });
  const { body, headers } = await open(
    `${path`/projects/${commits.projectId}/contents`}?${query}`,
    { Accept: "application/octet-stream" },
    AbortSignal.any([signal, AbortSignal.timeout(LOAD_MS)]),
  );
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = Number(headers.get("content-length") ?? 0);
  if (bytes <= BYTES_MAX) {
    bytes = 0;
    for await (const chunk of body ? chunksOf(body) : []) {
      parts.push(new Uint8Array(chunk));
      bytes += chunk.length;
      if (bytes > BYTES_MAX) break;
    }
  } else await body?.cancel();
  if (bytes > BYTES_MAX) return { note: `An image of more than ${sizeOf(BYTES_MAX)} is not shown.` };
  const blob = new Blob(parts, { type: file.image ?? "" });
  if ((await blob.slice(0, LFS.length).text()) === LFS)
    return {
      note: "The image is stored in Git LFS, which svc does not fetch. The repository has a pointer to it.",
    };
  return { url: await dataUrl(blob), bytes };
}

/** How a pointer file of Git LFS begins. */
const LFS = "version https://git-lfs.github.com/spec/v1";

/** As a data URL: an image element runs no scripts of it and loads nothing that it names. */
export function dataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

/** Such as `12.5 KiB`. */
export function sizeOf(bytes: number): string {
  const kib = bytes / 1024;
  if (kib < 1) return `${bytes} bytes`;
  return kib < 1024 ? `${kib.toFixed(1)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}
