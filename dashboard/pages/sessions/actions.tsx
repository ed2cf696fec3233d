import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import type { Session } from "../../../src/contract/session.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { count } from "../../parts/count.ts";
import { Dialog, FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { sessionKey } from "./follow-session.ts";
import { isStarting, shortId, titleOf } from "./words.ts";

export type Doing = "rename" | "restart" | "stop" | "delete" | null;

/** The actions of a session. Those that interrupt work require a confirmation. */
export function Actions({ session, onDo }: { session: Session; onDo: (doing: Doing) => void }) {
  const isAlive = session.status === "running" || isStarting(session);
  return (
    <>
      <Button onClick={() => onDo("rename")}>Rename</Button>
      <Button onClick={() => onDo("restart")}>{isAlive ? "Restart" : "Start again"}</Button>
      {isAlive && <Button onClick={() => onDo("stop")}>Stop</Button>}
      <Button look="danger" onClick={() => onDo("delete")}>
        Delete
      </Button>
    </>
  );
}

interface Props {
  session: Session;
  isBusy: boolean;
  doing: Doing;
  slug: string;
  onClose: () => void;
}

export function ActionDialog({ doing, ...rest }: Props) {
  const Asked = doing && DIALOGS[doing];
  return Asked && <Asked {...rest} />;
}

const DIALOGS = { rename: Rename, restart: Restart, stop: Stop, delete: Delete };

type Own = Omit<Props, "doing">;

/** Runs an action and refetches the session. */
function useAction<T>(
  session: Session,
  run: (own: string, input: T) => Promise<Session>,
  onClose: () => void,
) {
  const queries = useQueryClient();
  const { project_id, session_id } = session;
  return useMutation({
    mutationFn: (input: T) => run(path`/projects/${project_id}/sessions/${session_id}`, input),
    // refetch: the event stream may be newer than the response
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: sessionKey(project_id, session_id), exact: true });
      void queries.invalidateQueries({ queryKey: [project_id, "session", "list"] });
      onClose();
    },
  });
}

function Rename({ session, onClose }: Own) {
  const [name, setName] = useState(session.title ?? "");
  const rename = useAction(
    session,
    (own) => call<Session>("PATCH", own, { body: { name: name.trim() } }),
    onClose,
  );
  return (
    <FormDialog
      title="Rename the session"
      verb="Rename"
      busy={rename.isPending}
      disabled={name.trim() === ""}
      error={rename.error}
      onSubmit={() => name.trim() !== "" && rename.mutate(undefined)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        maxLength={NAME_MAX}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  );
}

/** Offers to restore saved work, if there is any. */
function Restart({ session, isBusy, onClose }: Own) {
  const { saved } = session;
  const restart = useAction(
    session,
    (own, restore: boolean) => call<Session>("POST", `${own}/restart`, { body: { restore } }),
    onClose,
  );
  const isAlive = session.status === "running" || isStarting(session);
  return (
    <Dialog title={isAlive ? "Restart the session" : "Start the session again"} onClose={onClose}>
      <div className="flex flex-col gap-4">
        <p>
          The session gets a new sandbox with the last pushed state of its branch.
          {isAlive && " The running sandbox is stopped first, and its work is saved."}
          {isBusy && " The agent is working: its answer is interrupted."}
        </p>
        {saved && (
          <p>
            Unpushed work was saved <Ago at={saved.at} />
            {saved.files === null ? "" : ` (${count(saved.files, "file")})`}.
          </p>
        )}
        <Failure error={restart.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          {saved || isAlive ? (
            <>
              <Button busy={restart.isPending} onClick={() => restart.mutate(false)}>
                Without the saved work
              </Button>
              <Button look="primary" busy={restart.isPending} onClick={() => restart.mutate(true)}>
                Restore the saved work
              </Button>
            </>
          ) : (
            <Button look="primary" busy={restart.isPending} onClick={() => restart.mutate(false)}>
              Start
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}

function Stop({ session, isBusy, onClose }: Own) {
  const stop = useAction(session, (own) => call<Session>("POST", `${own}/stop`), onClose);
  return (
    <Confirm
      title="Stop the session"
      verb="Stop"
      action={stop}
      onConfirm={() => stop.mutate(undefined)}
      onClose={onClose}
    >
      {isBusy && <p>The agent is working: its answer is interrupted.</p>}
      <p>Its sandbox is removed. Unpushed work is saved, and restored when you start the session again.</p>
    </Confirm>
  );
}

function Delete({ session, slug, onClose }: Own) {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const { project_id, session_id, branch_name, saved } = session;
  const remove = useMutation({
    mutationFn: () => call("DELETE", path`/projects/${project_id}/sessions/${session_id}`),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: [project_id, "session", "list"] });
      go(path`/projects/${slug}/sessions`);
    },
  });
  return (
    <Confirm
      title={`Delete ${titleOf(session)}`}
      verb="Delete the session"
      typed={shortId(session_id)}
      action={remove}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        This deletes its conversation, its log and its sandbox. You cannot undo this. Its commits stay on the
        branch{" "}
        <code className="font-mono text-sm">
          <Visible>{branch_name}</Visible>
        </code>
        .
      </p>
      {saved && (
        <p className="mt-2 wrap-anywhere">
          Its saved work remains as the commit <code className="font-mono text-sm">{saved.commit}</code>,
          which git can still fetch.
        </p>
      )}
    </Confirm>
  );
}
