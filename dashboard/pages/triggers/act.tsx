import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { Fired, Switched, Trigger } from "../../../src/contract/trigger.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextArea } from "../../parts/field.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";

interface Props {
  projectId: string;
  projectSlug: string;
  trigger: Trigger;
}

/** What can be done with a trigger: fire it, and turn it on or off. Each is asked for with what it will do. */
export function Act({ projectId, projectSlug, trigger }: Props) {
  const [asked, setAsked] = useState<"fire" | "switch" | null>(null);
  const name = visibleText(trigger.slug);
  const verb = trigger.enabled ? "Disable" : "Enable";
  const dialog = { projectId, projectSlug, trigger, onClose: () => setAsked(null) };
  return (
    <div className="flex flex-wrap gap-2">
      <Button onClick={() => setAsked("fire")} aria-label={`Fire ${name}`}>
        Fire
      </Button>
      <Button onClick={() => setAsked("switch")} aria-label={`${verb} ${name}`}>
        {verb}
      </Button>
      {asked === "fire" && <Fire {...dialog} />}
      {asked === "switch" && <Switch {...dialog} />}
    </div>
  );
}

type Asked = Props & { onClose: () => void };

function Fire({ projectId, projectSlug, trigger, onClose }: Asked) {
  const [text, setText] = useState("");
  const queries = useQueryClient();
  const at = path`/projects/${projectId}/triggers/${trigger.slug}/fire`;
  const fire = useMutation({
    mutationFn: () => call<Fired>("POST", at, { body: text.trim() === "" ? {} : { text } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [projectId, "trigger"] }),
  });
  const session = fire.data && path`/projects/${projectSlug}/sessions/${fire.data.session_id}`;
  return (
    <Dialog title={`Fire ${trigger.slug}`} onClose={onClose}>
      {fire.data && session ? (
        <Notice kind="success">
          {fire.data.status === "fired" ? (
            <Link href={session}>Its session starts</Link>
          ) : (
            "It waits for a place among the account's sessions, at most an hour. Stop one that nobody needs."
          )}
        </Notice>
      ) : (
        <TextArea
          label="Words of your own"
          hint="What {{ text }} of its prompt stands for, else added at the end. May be left out."
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <Failure error={fire.error} />
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>{fire.data ? "Done" : "Cancel"}</Button>
        {!fire.data && (
          <Button look="primary" busy={fire.isPending} onClick={() => fire.mutate()}>
            Start the session
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function Switch({ projectId, projectSlug, trigger, onClose }: Asked) {
  // as it was asked: the trigger itself changes meanwhile
  const [enabled] = useState(!trigger.enabled);
  const verb = enabled ? "Enable" : "Disable";
  const queries = useQueryClient();
  const at = path`/projects/${projectId}/triggers/${trigger.slug}`;
  const set = useMutation({
    mutationFn: () => call<Switched>("PATCH", at, { body: { enabled } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [projectId] }),
  });
  return (
    <Dialog title={`${verb} ${trigger.slug}`} onClose={onClose}>
      {set.data ? (
        <Done switched={set.data} projectSlug={projectSlug} />
      ) : (
        <p>
          svc changes this one value of svc.toml on a branch of its own, opens a change request and merges it.
          Where the project asks for approvals it stays open until somebody has given them.
        </p>
      )}
      <Failure error={set.error} />
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>{set.data ? "Done" : "Cancel"}</Button>
        {!set.data && (
          <Button look="primary" busy={set.isPending} onClick={() => set.mutate()}>
            {verb} the trigger
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function Done({ switched, projectSlug }: { switched: Switched; projectSlug: string }) {
  const { status, reason, change_request: cr } = switched;
  const state = switched.enabled ? "enabled" : "disabled";
  if (!cr) return <Notice kind="success">It is {state} already.</Notice>;
  const link = (
    <Link href={path`/projects/${projectSlug}/change-requests/${String(cr.number)}`}>
      change request #{cr.number}
    </Link>
  );
  if (status === "merged")
    return (
      <Notice kind="success">
        It is {state}: {link} is merged.
      </Notice>
    );
  return (
    <Notice kind="warning">
      It will be {state} when {link} is merged. <Visible>{reason ?? ""}</Visible>
    </Notice>
  );
}
