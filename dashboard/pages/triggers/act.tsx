import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { Fired, Switched, Trigger } from "../../../src/contract/trigger.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextArea } from "../../parts/field.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";

/** Fires a trigger, and enables or disables it, after a confirmation. */
export function Act({ trigger }: { trigger: Trigger }) {
  const [asked, setAsked] = useState<"fire" | "switch" | null>(null);
  const name = visibleText(trigger.slug);
  const verb = trigger.enabled ? "Disable" : "Enable";
  const dialog = { trigger, onClose: () => setAsked(null) };
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

interface Asked {
  trigger: Trigger;
  onClose: () => void;
}

function Fire({ trigger, onClose }: Asked) {
  const { project_id, slug } = useProject();
  const [text, setText] = useState("");
  const queries = useQueryClient();
  const at = path`/projects/${project_id}/triggers/${trigger.slug}/fire`;
  const fire = useMutation({
    mutationFn: () => call<Fired>("POST", at, { body: text.trim() === "" ? {} : { text } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [project_id, "trigger"] }),
  });
  const session = fire.data && path`/projects/${slug}/sessions/${fire.data.session_id}`;
  return (
    <Dialog title={`Fire ${trigger.slug}`} onClose={onClose}>
      {fire.data && session ? (
        <Notice kind="success">
          {fire.data.status === "fired" ? (
            <Link href={session}>The session is starting</Link>
          ) : (
            "The account has reached its limit of sessions. The trigger waits for a free slot for up to an hour. Stop a session to free one."
          )}
        </Notice>
      ) : (
        <TextArea
          label="Additional text"
          hint="Optional. Replaces {{ text }} in the prompt, or is appended to it."
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

function Switch({ trigger, onClose }: Asked) {
  const { project_id } = useProject();
  // the state that was requested; the trigger changes meanwhile
  const [enabled] = useState(!trigger.enabled);
  const verb = enabled ? "Enable" : "Disable";
  const queries = useQueryClient();
  const at = path`/projects/${project_id}/triggers/${trigger.slug}`;
  const set = useMutation({
    mutationFn: () => call<Switched>("PATCH", at, { body: { enabled } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [project_id] }),
  });
  return (
    <Dialog title={`${verb} ${trigger.slug}`} onClose={onClose}>
      {set.data ? (
        <Done switched={set.data} />
      ) : (
        <p>
          svc changes this value in svc.toml on a new branch, opens a change request and merges it. If the
          project requires approvals, the change request stays open until it has them.
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

function Done({ switched }: { switched: Switched }) {
  const { slug } = useProject();
  const { status, reason, change_request: cr } = switched;
  const state = switched.enabled ? "enabled" : "disabled";
  if (!cr) return <Notice kind="success">It is already {state}.</Notice>;
  const link = (
    <Link href={path`/projects/${slug}/change-requests/${String(cr.number)}`}>
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
