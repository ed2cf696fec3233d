import { useState } from "react";
import { Link } from "wouter";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Label } from "../../../src/contract/label.ts";
import { useGet } from "../../api/get.ts";
import { useMembers } from "../../api/members.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Loading } from "../../parts/loading.tsx";
import { More } from "../../parts/more.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { Kind } from "./belonging.tsx";
import { useAct, type Where } from "./queries.ts";

interface Props {
  kind: Kind;
  title: string;
  where: Where;
  cr: ChangeRequest;
  onClose: () => void;
}

/** Chooses the labels or people of a change request. What is sent adds and removes, so that others' changes stay. */
export function Choose({ kind, title, where, cr, onClose }: Props) {
  const act = useAct(where);
  // as it was when the dialog was opened: what others add meanwhile is not removed
  const [before] = useState(() =>
    kind === "labels" ? cr.labels.map(({ name }) => name) : cr[kind].map((each) => each.user_id),
  );
  const [chosen, setChosen] = useState<readonly string[]>(before);
  const toggle = (value: string) =>
    setChosen((now) => (now.includes(value) ? now.filter((each) => each !== value) : [...now, value]));
  const body = {
    [`add_${kind}`]: chosen.filter((value) => !before.includes(value)),
    [`remove_${kind}`]: before.filter((value) => !chosen.includes(value)),
  };
  return (
    <FormDialog
      title={title}
      verb="Save"
      busy={act.isPending}
      error={act.error}
      onSubmit={() => act.mutate({ method: "PATCH", body }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {kind === "labels" ? (
        <Labels chosen={chosen} toggle={toggle} />
      ) : (
        <People
          chosen={chosen}
          toggle={toggle}
          // who opened it cannot be asked for a review
          without={kind === "requested_reviewers" ? cr.created_by : null}
        />
      )}
    </FormDialog>
  );
}

interface Chosen {
  chosen: readonly string[];
  toggle: (value: string) => void;
}

function Labels(chosen: Chosen) {
  const { project_id, slug } = useProject();
  const { data, error, refetch } = useGet<{ labels: Label[] }>(
    [project_id, "label"],
    path`/projects/${project_id}/labels`,
  );
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="Loading the labels" />;
  if (data.labels.length === 0)
    return (
      <p className="text-muted">
        The project has no labels.{" "}
        <Link href={path`/projects/${slug}/settings`} className="text-accent underline">
          Create one in its settings
        </Link>
      </p>
    );
  const options = data.labels.map(({ name, description }) => ({
    value: name,
    name,
    hint: description ?? "",
  }));
  return <Options options={options} {...chosen} />;
}

function People({ without, ...chosen }: Chosen & { without: string | null }) {
  const members = useMembers(useProject().account_id);
  if (members.isPending) return <Loading what="Loading the members" />;
  const options = members.rows
    .filter(({ user_id }) => user_id !== without)
    .map(({ user_id, name, email }) => ({ value: user_id, name: name || email, hint: name ? email : "" }));
  return (
    <>
      <Failure error={members.error} retry={() => void members.refetch()} />
      <Options options={options} {...chosen} />
      <More list={members} />
    </>
  );
}

interface Option {
  value: string;
  name: string;
  hint: string;
}

function Options({ options, chosen, toggle }: Chosen & { options: readonly Option[] }) {
  const [words, setWords] = useState("");
  const wanted = words.trim().toLowerCase();
  const shown = options.filter(({ name, hint }) => `${name} ${hint}`.toLowerCase().includes(wanted));
  return (
    <>
      <TextField label="Filter" value={words} onChange={(event) => setWords(event.target.value)} />
      <ul className="max-h-72 overflow-y-auto">
        {shown.map(({ value, name, hint }) => (
          <li key={value}>
            <label className="flex items-baseline gap-2 py-1">
              <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
              <span className="wrap-anywhere">
                <Visible>{name}</Visible>{" "}
                <span className="text-muted text-sm">
                  <Visible>{hint}</Visible>
                </span>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </>
  );
}
