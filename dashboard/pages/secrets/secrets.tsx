import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { SecretList } from "../../../src/contract/secret.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";
import { rowsOf, type SecretRow } from "./rows.ts";
import { SetSecret } from "./set-secret.tsx";

/** The open dialog. `row: null` is a new secret. */
type OpenDialog = { verb: "set"; row: SecretRow | null } | { verb: "remove"; row: SecretRow };

/** The environment variables of a project's sandboxes: those that are set, and those that svc.toml declares. */
export function Secrets() {
  const project = useProject();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const queries = useQueryClient();
  const queryKey = [project.project_id, "secret"];
  const at = path`/projects/${project.project_id}/secrets`;
  const { data, error, isPending, refetch } = useGet<SecretList>(queryKey, at);
  const done = async () => {
    setDialog(null);
    await queries.invalidateQueries({ queryKey });
  };
  const rows = data ? rowsOf(data) : [];
  const missing = data?.missing ?? [];
  return (
    <Page
      title="Secrets"
      actions={
        <Button look="primary" onClick={() => setDialog({ verb: "set", row: null })}>
          New secret
        </Button>
      }
    >
      <p className="mb-4 max-w-prose text-muted">
        Environment variables of this project's sandboxes. They are stored encrypted, and their values are
        never shown again.
      </p>
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the secrets" />}
      {missing.length > 0 && (
        <div className="mb-4">
          <Notice kind="warning">
            svc.toml requires {missing.length === 1 ? "a secret" : `${missing.length} secrets`} that{" "}
            {missing.length === 1 ? "is" : "are"} not set. Sandboxes start without.
          </Notice>
        </div>
      )}
      {data && rows.length === 0 && (
        <Empty title="No secrets yet" command="svc secrets set ANTHROPIC_API_KEY=-">
          Agents need the API key of a model provider. Set it here or with the CLI, which prompts for the
          value:
        </Empty>
      )}
      {rows.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {rows.map((row) => (
            <Row
              key={row.name}
              row={row}
              onSet={() => setDialog({ verb: "set", row })}
              onRemove={() => setDialog({ verb: "remove", row })}
            />
          ))}
        </ul>
      )}
      {dialog?.verb === "set" && (
        <SetSecret at={at} row={dialog.row} onDone={done} onClose={() => setDialog(null)} />
      )}
      {dialog?.verb === "remove" && (
        <RemoveSecret at={at} row={dialog.row} onDone={done} onClose={() => setDialog(null)} />
      )}
    </Page>
  );
}

function Row({ row, onSet, onRemove }: { row: SecretRow; onSet: () => void; onRemove: () => void }) {
  const name = visibleText(row.name);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2">
          <span className="font-medium font-mono">
            <Visible>{row.name}</Visible>
          </span>
          {row.isMissing && <Badge look="warn">Missing</Badge>}
          {row.declared && (
            <Badge look="neutral">{row.declared === "required" ? "Required" : "Optional"}</Badge>
          )}
        </p>
        <p className="text-muted text-sm">
          {row.updatedAt ? (
            <>
              Set <Ago at={row.updatedAt} /> for <Visible>{row.audience?.join(", ") ?? ""}</Visible>
            </>
          ) : (
            "Not set"
          )}
        </p>
      </div>
      <div className="flex gap-2">
        <Button
          look={row.isMissing ? "primary" : "plain"}
          onClick={onSet}
          aria-label={row.updatedAt ? `Replace ${name}` : `Set ${name}`}
        >
          {row.updatedAt ? "Replace" : "Set"}
        </Button>
        {row.updatedAt && (
          <Button look="danger" onClick={onRemove} aria-label={`Remove ${name}`}>
            Remove
          </Button>
        )}
      </div>
    </li>
  );
}

interface RemoveProps {
  at: string;
  row: SecretRow;
  onDone: () => Promise<void>;
  onClose: () => void;
}

function RemoveSecret({ at, row, onDone, onClose }: RemoveProps) {
  const remove = useMutation({
    mutationFn: () => call("DELETE", at + path`/${row.name}`),
    onSuccess: onDone,
  });
  return (
    <Confirm
      title={`Remove ${row.name}?`}
      verb="Remove the secret"
      action={remove}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>
        You cannot undo this. {row.declared === "required" && "svc.toml requires it. "}
        Running sandboxes lose it too.
      </p>
    </Confirm>
  );
}
