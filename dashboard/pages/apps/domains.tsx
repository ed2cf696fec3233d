import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { App } from "../../../src/contract/app.ts";
import type { AppDomain } from "../../../src/contract/app-domain.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useMayManage, useProject } from "../../api/project.ts";
import { Badge, type BadgeLook } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Command } from "../../parts/command.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { useForm } from "../../parts/form.tsx";
import { Failure } from "../../parts/notice.tsx";

/** The domains of an app, for apps that are public or have some. */
export function Domains({ app, at }: { app: App; at: string }) {
  const project = useProject();
  const mayManage = useMayManage(project) ?? false;
  const queries = useQueryClient();
  const [isAdding, setIsAdding] = useState(false);
  const queryKey = [project.project_id, "app", app.slug, "domains"];
  const { data, error, refetch } = useGet<{ domains: AppDomain[] }>(queryKey, `${at}/domains`);
  const changed = () => queries.invalidateQueries({ queryKey: [project.project_id, "app"] });
  const domains = data?.domains ?? [];
  if (app.access !== "public" && domains.length === 0) return null;
  return (
    <section aria-labelledby="domains" className="mb-6">
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <h2 id="domains" className="font-semibold text-lg">
          Domains
        </h2>
        {mayManage && <Button onClick={() => setIsAdding(true)}>Add a domain</Button>}
      </div>
      <Failure error={error} retry={() => void refetch()} />
      {data && domains.length === 0 && <p className="text-muted">This app has no domain of its own.</p>}
      {domains.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {domains.map((domain) => (
            <Row key={domain.domain} domain={domain} at={at} mayManage={mayManage} changed={changed} />
          ))}
        </ul>
      )}
      {isAdding && (
        <AddDomain
          at={at}
          onAdded={async () => {
            await changed();
            setIsAdding(false);
          }}
          onClose={() => setIsAdding(false)}
        />
      )}
    </section>
  );
}

function AddDomain({ at, onAdded, onClose }: { at: string; onAdded: () => unknown; onClose: () => void }) {
  const form = useForm(
    { domain: "" },
    {
      send: ({ domain }) => call<AppDomain>("POST", `${at}/domains`, { body: { domain: domain.trim() } }),
      onSuccess: onAdded,
    },
  );
  return (
    <FormDialog
      title="Add a domain"
      verb="Add the domain"
      busy={form.isPending}
      error={form.rest}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <TextField
        label="Domain"
        placeholder="www.example.com"
        hint="The next step is a record in DNS, which proves that the domain is yours."
        required
        spellCheck={false}
        {...form.field("domain")}
      />
    </FormDialog>
  );
}

const LOOKS: Readonly<Record<AppDomain["state"], [BadgeLook, string]>> = {
  waiting: ["warn", "Waits for its record"],
  proven: ["ok", "Proven"],
  lost: ["danger", "Record not found"],
};

const PROBLEMS: Readonly<Record<NonNullable<AppDomain["problem"]>, string>> = {
  missing: "The TXT record was not found.",
  unanswered: "The DNS resolver did not answer.",
  taken: "Another account on this server has proved that the domain is its own.",
};

interface RowProps {
  domain: AppDomain;
  at: string;
  mayManage: boolean;
  changed: () => Promise<unknown>;
}

function Row({ domain: found, at, mayManage, changed }: RowProps) {
  const { domain, state, problem, record, target, url, served_until } = found;
  const [isRemoving, setIsRemoving] = useState(false);
  const one = at + path`/domains/${domain}`;
  const verify = useMutation({
    mutationFn: () => call<AppDomain>("POST", `${one}/verify`),
    onSuccess: changed,
  });
  const remove = useMutation({ mutationFn: () => call("DELETE", one), onSuccess: changed });
  const [look, label] = LOOKS[state];
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="flex min-w-0 flex-wrap items-center gap-2">
          {url === null ? (
            <span className="break-all font-medium">{domain}</span>
          ) : (
            <a href={url} className="break-all font-medium" rel="noreferrer">
              {domain}
            </a>
          )}
          <Badge look={look}>{label}</Badge>
        </p>
        {mayManage && (
          <p className="flex flex-wrap gap-2">
            {state !== "proven" && (
              <Button busy={verify.isPending} onClick={() => verify.mutate()}>
                Verify {domain}
              </Button>
            )}
            <Button look="danger" onClick={() => setIsRemoving(true)}>
              Remove {domain}
            </Button>
          </p>
        )}
      </div>
      {problem !== null && <p className="text-muted text-sm">{PROBLEMS[problem]}</p>}
      {served_until !== null && (
        <p className="text-danger text-sm">It is served until {new Date(served_until).toLocaleString()}.</p>
      )}
      {state !== "proven" && (
        <>
          <p className="text-sm">
            Publish this TXT record, and keep it. Then point {domain} to this server, such as by a CNAME to{" "}
            <code className="break-all font-mono">{target}</code>.
          </p>
          <Command label={`Copy the name of the record for ${domain}`}>{record.name}</Command>
          <Command label={`Copy the value of the record for ${domain}`}>{record.value}</Command>
        </>
      )}
      <Failure error={verify.error} />
      {isRemoving && (
        <Confirm
          title={`Remove ${domain}?`}
          verb="Remove the domain"
          action={remove}
          onConfirm={() => remove.mutate()}
          onClose={() => setIsRemoving(false)}
        >
          <p>The app is not served at this domain any more. What visitors have open there ends.</p>
        </Confirm>
      )}
    </li>
  );
}
