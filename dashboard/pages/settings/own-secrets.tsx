import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { OwnSecret, OwnSecretList } from "../../../src/contract/secret.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";
import { AllowProject, SetOwnSecret } from "./set-own-secret.tsx";

const AT = "/accounts/secrets";
const KEY = ["own-secrets"];

/** The open dialog. `name: null` is a new secret. */
type OpenDialog = { verb: "set"; name: string | null } | { verb: "allow" | "remove"; name: string };

/** The secrets that the signed-in user holds, and the projects that get them. */
export function OwnSecrets() {
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const queries = useQueryClient();
  const { data, error, isPending, refetch } = useGet<OwnSecretList>(KEY, AT);
  const close = () => setDialog(null);
  const done = async () => {
    close();
    await queries.invalidateQueries({ queryKey: KEY });
  };
  return (
    <Section
      title="Your secrets"
      about="Only for the sessions that you start, in the projects that you choose: for example the login of your Claude or ChatGPT subscription. Members who can prompt such a session can use it while the session runs."
      actions={<Button onClick={() => setDialog({ verb: "set", name: null })}>New secret</Button>}
    >
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading your secrets" />}
      {data?.items.length === 0 && <p className="text-muted">No secrets yet.</p>}
      <ul className="divide-y divide-line">
        {data?.items.map((secret) => (
          <Row
            key={secret.name}
            secret={secret}
            onOpen={(verb) => setDialog({ verb, name: secret.name })}
            onDone={done}
          />
        ))}
      </ul>
      {dialog?.verb === "set" && <SetOwnSecret at={AT} name={dialog.name} onDone={done} onClose={close} />}
      {dialog?.verb === "allow" && <AllowProject at={AT} name={dialog.name} onDone={done} onClose={close} />}
      {dialog?.verb === "remove" && <Remove name={dialog.name} onDone={done} onClose={close} />}
    </Section>
  );
}

interface RowProps {
  secret: OwnSecret;
  onOpen: (verb: OpenDialog["verb"]) => void;
  onDone: () => Promise<void>;
}

function Row({ secret: { name, projects, updated_at }, onOpen, onDone }: RowProps) {
  const deny = useMutation({
    mutationFn: (slug: string) => call("DELETE", AT + path`/${name}/projects/${slug}`),
    onSuccess: onDone,
  });
  const shown = visibleText(name);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="font-medium font-mono">
          <Visible>{name}</Visible>
        </p>
        <p className="text-muted text-sm">
          Set <Ago at={updated_at} /> {projects.length === 0 ? "· no project gets it" : "· your sessions in"}
        </p>
        <ul className="mt-1 flex flex-wrap gap-2">
          {projects.map((project) => (
            <li key={project.project_id} className="flex items-center gap-2 text-sm">
              <Visible>{project.name}</Visible>
              <Button
                onClick={() => deny.mutate(project.slug)}
                disabled={deny.isPending}
                aria-label={`Take ${shown} from ${visibleText(project.name)}`}
              >
                Take away
              </Button>
            </li>
          ))}
        </ul>
        <Failure error={deny.error} />
      </div>
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => onOpen("allow")} aria-label={`Give ${shown} to a project`}>
          Give to a project
        </Button>
        <Button onClick={() => onOpen("set")} aria-label={`Replace ${shown}`}>
          Replace
        </Button>
        <Button look="danger" onClick={() => onOpen("remove")} aria-label={`Remove ${shown}`}>
          Remove
        </Button>
      </div>
    </li>
  );
}

function Remove({
  name,
  onDone,
  onClose,
}: {
  name: string;
  onDone: () => Promise<void>;
  onClose: () => void;
}) {
  const remove = useMutation({ mutationFn: () => call("DELETE", AT + path`/${name}`), onSuccess: onDone });
  return (
    <Confirm
      title={`Remove ${name}?`}
      verb="Remove the secret"
      action={remove}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>You cannot undo this. Your running sessions lose it, too.</p>
    </Confirm>
  );
}
