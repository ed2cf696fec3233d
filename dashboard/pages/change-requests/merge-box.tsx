import { type ReactNode, useEffect, useRef, useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { MergeMethod } from "../../../src/contract/merge-method.ts";
import { ApiFailure } from "../../api/failure.ts";
import { Button } from "../../parts/button.tsx";
import { Options, TextArea } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { type MergeState, mergeStateOf } from "./merge-state.ts";
import { type Act, useAct, usePreview, type Where } from "./queries.ts";
import { ResolveConflicts } from "./resolve-conflicts.tsx";

const LOOKS = {
  good: ["border-ok", "bg-ok text-surface", "✓"],
  wait: ["border-edge", "bg-edge text-surface", "…"],
  bad: ["border-danger", "bg-danger text-surface", "!"],
  done: ["border-done", "bg-done text-surface", "✓"],
} as const;

/** Shows whether a change request can be merged; merges, closes and reopens it. Updates when its branches change. */
export function MergeBox({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const preview = usePreview(where, cr.status === "open");
  const state = mergeStateOf(cr, preview.data, preview.error);
  const [edge, mark, sign] = LOOKS[state.look];
  const result = useRef<HTMLHeadingElement>(null);
  const act = useAct(where);
  const run = (at: string, body?: unknown, method?: Act["method"]) =>
    act.mutate(
      { at, ...(body !== undefined && { body }), ...(method && { method }) },
      // the pressed button was removed: move the focus to the result
      { onSuccess: () => result.current?.focus() },
    );
  const isMoved = act.error instanceof ApiFailure && act.error.code === "base_moved";
  return (
    <section aria-labelledby="merge" className={`rounded-lg border-2 bg-surface ${edge}`}>
      <div className="flex items-start gap-3 p-4">
        <span
          aria-hidden="true"
          className={`flex size-8 shrink-0 items-center justify-center rounded-full font-bold ${mark}`}
        >
          {sign}
        </span>
        <div role="status" className="min-w-0 grow">
          <h2 id="merge" ref={result} tabIndex={-1} className="font-semibold outline-none">
            <Visible>{state.title}</Visible>
          </h2>
          <div className="text-muted">{state.note}</div>
          {state.conflicts.length > 0 && <Conflicts paths={state.conflicts} />}
        </div>
      </div>
      {state.isConflict && <ResolveConflicts where={where} />}
      <Failure error={act.error} {...(isMoved && { retry: () => run("/merge", act.variables?.body) })} />
      <Actions cr={cr} state={state} busy={act.isPending} onRun={run} />
    </section>
  );
}

function Conflicts({ paths }: { paths: readonly string[] }) {
  return (
    <ul aria-label="Files in conflict" className="mt-2 max-h-60 overflow-y-auto font-mono text-sm">
      {paths.map((each) => (
        <li key={each}>
          <Visible>{each}</Visible>
        </li>
      ))}
    </ul>
  );
}

interface ActionsProps {
  cr: ChangeRequest;
  state: MergeState;
  busy: boolean;
  onRun: (at: string, body?: unknown, method?: Act["method"]) => void;
}

function Actions({ cr, state, busy, onRun }: ActionsProps) {
  if (cr.status === "merged") return null;
  if (cr.status === "closed") {
    return (
      <Foot>
        <Button busy={busy} onClick={() => onRun("/reopen")}>
          Reopen
        </Button>
      </Foot>
    );
  }
  return <OpenActions {...{ cr, state, busy, onRun }} />;
}

function OpenActions({ cr, state: { canMerge, isFastForward }, busy, onRun }: ActionsProps) {
  const [isAsking, setIsAsking] = useState(false);
  const [message, setMessage] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const methods = methodsOf(cr, isFastForward);
  // the project may allow others meanwhile
  const method = methods.find((each) => each === chosen) ?? methods[0] ?? "merge";
  const takesMessage = method === "merge" || method === "squash";
  const field = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (isAsking) field.current?.querySelector("textarea")?.focus();
  }, [isAsking]);
  const merge = () => {
    // merge only the commit that the page shows
    const seen = cr.head_commit_sha === null ? {} : { head_commit_sha: cr.head_commit_sha };
    onRun("/merge", { ...seen, method, ...(takesMessage && message.trim() !== "" && { message }) });
  };
  return (
    <Foot>
      {isAsking && takesMessage && (
        <Form ref={field} id="merge-message" onSubmit={merge} className="basis-full">
          <TextArea
            label="Merge message"
            hint={
              method === "merge" && isFastForward
                ? "Optional. With a message, a merge commit is created instead of a fast-forward."
                : "Optional. Default: the text in the field."
            }
            placeholder={method === "merge" ? `Merge CR #${cr.number}: ${cr.title}` : cr.title}
            value={message}
            onChange={(event) => setMessage(event.target.value)}
          />
        </Form>
      )}
      {cr.draft ? (
        <Button look="primary" busy={busy} onClick={() => onRun("", { draft: false }, "PATCH")}>
          Mark as ready
        </Button>
      ) : (
        <Button look="primary" busy={busy} disabled={!canMerge} onClick={merge}>
          Merge
        </Button>
      )}
      {canMerge && methods.length > 1 && (
        <Choose methods={methods} method={method} isFastForward={isFastForward} onChange={setChosen} />
      )}
      {!isAsking && canMerge && takesMessage && (
        <Button look="quiet" onClick={() => setIsAsking(true)}>
          Write a message
        </Button>
      )}
      {!cr.draft && (
        <Button
          look="quiet"
          className="ml-auto"
          busy={busy}
          onClick={() => onRun("", { draft: true }, "PATCH")}
        >
          Convert to draft
        </Button>
      )}
      <Button look="quiet" className={cr.draft ? "ml-auto" : ""} busy={busy} onClick={() => onRun("/close")}>
        Close without merging
      </Button>
    </Foot>
  );
}

interface ChooseProps {
  methods: readonly MergeMethod[];
  method: MergeMethod;
  isFastForward: boolean;
  onChange: (method: string) => void;
}

function Choose({ methods, method, isFastForward, onChange }: ChooseProps) {
  const labels: Readonly<Record<MergeMethod, string>> = {
    merge: isFastForward ? "Fast-forward" : "Merge commit",
    squash: "Squash into one commit",
    rebase: "Rebase the commits",
    "ff-only": "Fast-forward only",
  };
  return (
    <select
      aria-label="Merge method"
      className="rounded-md border border-edge bg-surface px-3 py-2"
      value={method}
      onChange={(event) => onChange(event.target.value)}
    >
      <Options of={methods.map((each) => [each, labels[each]] as const)} />
    </select>
  );
}

/** The methods to choose from: a fast-forward is offered where it is possible. */
function methodsOf({ merge_methods: allowed = [] }: ChangeRequest, isFastForward: boolean): MergeMethod[] {
  return allowed.filter((method) => method !== "ff-only" || isFastForward || allowed.length === 1);
}

function Foot({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2 border-line border-t px-4 py-3">{children}</div>;
}
