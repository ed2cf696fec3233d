import { type ReactNode, type Ref, useEffect, useRef, useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { MergeMethod } from "../../../src/contract/merge-method.ts";
import { Button } from "../../parts/button.tsx";
import { Options, TextArea } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import type { MergeState } from "./merge-state.ts";
import type { Act } from "./queries.ts";

interface Props {
  cr: ChangeRequest;
  state: MergeState;
  busy: boolean;
  onRun: OnRun;
}

export type OnRun = (at: string, body?: unknown, method?: Act["method"]) => void;

/** Merges, closes and reopens a change request, and makes it a draft. */
export function MergeActions({ cr, state, busy, onRun }: Props) {
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
  return (
    <Foot>
      {cr.draft ? (
        <Button look="primary" busy={busy} onClick={() => onRun("", { draft: false }, "PATCH")}>
          Mark as ready
        </Button>
      ) : (
        // it waits already
        !(state.isQueued || (state.canWait && cr.auto_merge?.enabled)) && (
          <Merge {...{ cr, state, busy, onRun }} />
        )
      )}
      <span className="ml-auto flex flex-wrap gap-2">
        {!cr.draft && (
          <Button look="quiet" busy={busy} onClick={() => onRun("", { draft: true }, "PATCH")}>
            Convert to draft
          </Button>
        )}
        <Button look="quiet" busy={busy} onClick={() => onRun("/close")}>
          Close without merging
        </Button>
      </span>
    </Foot>
  );
}

/** The button, and the choices that a merge has. */
function Merge({ cr, state: { canMerge, canWait, isFastForward }, busy, onRun }: Props) {
  const canChoose = canMerge || canWait;
  const [isAsking, setIsAsking] = useState(false);
  const [message, setMessage] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const [deletesBranch, setDeletesBranch] = useState(false);
  const methods = methodsOf(cr, isFastForward);
  // the project may allow others meanwhile
  const method = methods.find((each) => each === chosen) ?? methods[0] ?? "merge";
  const takesMessage = method === "merge" || method === "squash";
  const field = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (isAsking) field.current?.querySelector("textarea")?.focus();
  }, [isAsking]);
  const act = () => {
    // merge only the commit that the page shows
    const seen = cr.head_commit_sha === null ? {} : { head_commit_sha: cr.head_commit_sha };
    const said = takesMessage && message.trim() !== "" && { message };
    const body = { ...seen, method, ...said, ...(deletesBranch && { delete_branch: true }) };
    if (canWait) onRun("/auto-merge", body, "PUT");
    else onRun("/merge", body);
  };
  return (
    <>
      {isAsking && takesMessage && (
        <Message {...{ field, cr, method, isFastForward, message }} onChange={setMessage} onSubmit={act} />
      )}
      <Button look={canWait ? "plain" : "primary"} busy={busy} disabled={!canChoose} onClick={act}>
        {canWait ? "Merge when ready" : cr.merge_queue ? "Add to merge queue" : "Merge"}
      </Button>
      {canChoose && methods.length > 1 && (
        <Choose methods={methods} method={method} isFastForward={isFastForward} onChange={setChosen} />
      )}
      {canChoose && (
        <label className="flex items-center gap-1.5">
          <input
            type="checkbox"
            checked={deletesBranch}
            onChange={(event) => setDeletesBranch(event.target.checked)}
          />
          Delete the branch
        </label>
      )}
      {!isAsking && canChoose && takesMessage && (
        <Button look="quiet" onClick={() => setIsAsking(true)}>
          Write a message
        </Button>
      )}
    </>
  );
}

interface MessageProps {
  field: Ref<HTMLFormElement>;
  cr: ChangeRequest;
  method: MergeMethod;
  isFastForward: boolean;
  message: string;
  onChange: (message: string) => void;
  onSubmit: () => void;
}

function Message({ field, cr, method, isFastForward, message, onChange, onSubmit }: MessageProps) {
  return (
    <Form ref={field} id="merge-message" onSubmit={onSubmit} className="basis-full">
      <TextArea
        label="Merge message"
        hint={
          method === "merge" && isFastForward
            ? "Optional. With a message, a merge commit is created instead of a fast-forward."
            : "Optional. Default: the text in the field."
        }
        placeholder={method === "merge" ? `Merge CR #${cr.number}: ${cr.title}` : cr.title}
        value={message}
        onChange={(event) => onChange(event.target.value)}
      />
    </Form>
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
