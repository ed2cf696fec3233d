import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { DiffFile } from "../../../../src/contract/change-request.ts";
import { open } from "../../../api/call.ts";
import { Button } from "../../../parts/button.tsx";
import { Command } from "../../../parts/command.tsx";
import { Loading } from "../../../parts/loading.tsx";
import { Failure } from "../../../parts/notice.tsx";
import { Patch } from "../../../parts/patch.tsx";
import { ScrollBox } from "../../../parts/scroll-box.tsx";
import { Segments } from "../../../parts/segments.tsx";
import { Visible, visibleText } from "../../../parts/visible.tsx";
import { Counts, Kind } from "../../change-requests/diff/file-head.tsx";
import { sizeOf } from "../../change-requests/diff/images.tsx";
import { type Content, DOWNLOAD_MAX_BYTES, loadContent, loadFile } from "./load.ts";
import { type At, keyOf, own, queryOf, type Shown } from "./queries.ts";

/** Lines of a text that are shown. */
const LINES_MAX = 5_000;

interface Props {
  shown: Shown;
  at: At;
  /** Its change; undefined: none. */
  change: DiffFile | undefined;
}

/** One file of the workspace: its content, or what was changed in it. */
export function File({ shown, at, change }: Props) {
  const [view, setView] = useState<"changes" | "content">("changes");
  const isGone = change?.status === "deleted";
  const showsChanges = change !== undefined && (view === "changes" || isGone);
  return (
    <section aria-label="File" className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h2 className="min-w-0 grow font-mono text-sm">
          <Visible>{at.path}</Visible>
        </h2>
        {change && <Kind file={change} />}
        {change && <Counts file={change} />}
        {change && !isGone && (
          <Segments
            legend="What is shown of the file"
            options={[
              ["changes", "Changes"],
              ["content", "File"],
            ]}
            value={view}
            onChange={setView}
          />
        )}
      </div>
      {showsChanges ? <Changes shown={shown} at={at} /> : <Contents shown={shown} at={at} />}
    </section>
  );
}

function Changes({ shown: { session, moment }, at }: Omit<Props, "change">) {
  const { data, error, refetch } = useQuery({
    queryKey: [...keyOf(session), "patch", at.path_base64 ?? at.path, moment],
    queryFn: async ({ signal }) => {
      const answer = await open(`${own(session)}/diff?${queryOf(at)}`, { Accept: "text/x-diff" }, signal);
      return await answer.text();
    },
    placeholderData: keepPreviousData,
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="Loading the changes" />;
  if (data === "") return <p className="text-muted">The changes are too large to be shown, or are gone.</p>;
  return <Patch>{data}</Patch>;
}

function Contents({ shown: { session, moment }, at }: Omit<Props, "change">) {
  const { data, error, refetch } = useQuery({
    queryKey: [...keyOf(session), "content", at.path_base64 ?? at.path, moment],
    queryFn: ({ signal }) => loadContent(session, at, signal),
    placeholderData: keepPreviousData,
    structuralSharing: false,
  });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="Loading the file" />;
  return (
    <>
      <Body content={data} name={at.path} />
      <Download shown={{ session, moment }} at={at} size={data.size} />
    </>
  );
}

function Body({ content, name }: { content: Content; name: string }) {
  if (content.kind === "binary") return <p>Binary, {content.size.toLocaleString("en")} bytes</p>;
  if (content.kind === "image")
    return <img src={content.url} alt={visibleText(name)} className="max-h-[60dvh] max-w-full bg-white" />;
  if (content.size === 0) return <p className="text-muted">The file is empty.</p>;
  const all = content.text.replace(/\n$/, "").split("\n");
  const lines = all.slice(0, LINES_MAX).map((text, index) => ({ number: index + 1, text }));
  const isCut = content.isCut || all.length > LINES_MAX;
  return (
    <>
      <ScrollBox label="Content" className="max-h-[60dvh] rounded-sm bg-raised py-2">
        <pre className="text-xs leading-5">
          <code className="block w-max min-w-full">
            {lines.map(({ number, text }) => (
              // the numbers are generated content, so that they are not copied
              <span
                key={number}
                data-number={number}
                className="block pr-3 before:mr-3 before:inline-block before:w-12 before:select-none before:text-right before:text-muted before:content-[attr(data-number)]"
              >
                <Visible>{text === "" ? " " : text}</Visible>
              </span>
            ))}
          </code>
        </pre>
      </ScrollBox>
      {isCut && (
        <p className="text-muted text-sm">This is the beginning of a file of {sizeOf(content.size)}.</p>
      )}
    </>
  );
}

function Download({ shown: { session }, at, size }: { shown: Shown; at: At; size: number }) {
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => save(await loadFile(session, at), at.path.slice(at.path.lastIndexOf("/") + 1)),
  });
  if (size > DOWNLOAD_MAX_BYTES)
    return <Command>{`svc sessions cp ${session.session_id}:'${visibleText(at.path)}' .`}</Command>;
  return (
    <div className="flex flex-col gap-2">
      <Failure error={error} />
      <Button className="w-fit" busy={isPending} onClick={() => mutate()}>
        Download ({sizeOf(size)})
      </Button>
    </div>
  );
}

/** As a download that the browser does not open: a page of svc's origin must not run what an agent has written. */
function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(new Blob([file], { type: "application/octet-stream" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS);
}

/** The browser has begun to save it. */
const REVOKE_MS = 60_000;
