import { useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { useLocation } from "wouter";
import { NAME_MAX, PROMPT_MAX_BYTES, TRIES_MAX } from "../../../src/contract/limits.ts";
import { isPermissionMode } from "../../../src/contract/runtimes.ts";
import type { CreateSessionBody, Session } from "../../../src/contract/session.ts";
import type { CreateTriesBody, Tries } from "../../../src/contract/tries.ts";
import { useBranches } from "../../api/branches.ts";
import { call } from "../../api/call.ts";
import { ApiFailure } from "../../api/failure.ts";
import { newId } from "../../api/new-id.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Options, Select, TextArea, TextField } from "../../parts/field.tsx";
import { Form, type InputProps, useForm } from "../../parts/form.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { visibleText } from "../../parts/visible.tsx";
import { AgentField } from "./agent-field.tsx";
import { AttachButton, AttachedFiles } from "./attached-files.tsx";
import { bytesOf } from "./bytes.ts";
import { EffortField, ModeField, RuntimeField } from "./choice-fields.tsx";
import { useAttachments } from "./use-attachments.ts";

const NOTHING = {
  prompt: "",
  base: "",
  agent: "",
  model: "",
  mode: "",
  effort: "",
  name: "",
  tries: "1",
  runtime: "",
};

const TRIES_HINT = "Several sessions at the same prompt, to compare and choose from.";
const TRIES = [
  [1, "One session"],
  ...Array.from({ length: TRIES_MAX - 1 }, (_, index) => [index + 2, `${index + 2} sessions`] as const),
] as const;

/** Starts a session and opens its page. */
export function NewSession() {
  const project = useProject();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const [id] = useState(newId);
  const attachments = useAttachments();
  const { files } = attachments;
  const form = useForm(NOTHING, {
    send: (values) => {
      const tries = Number(values.tries);
      const body = {
        ...bodyOf(id, values),
        ...(files.length > 0 && { attachments: files.map(({ name, data }) => ({ name, data })) }),
      };
      return tries > 1 ? createTries(project.project_id, body, tries) : create(project.project_id, body);
    },
    onSuccess: (session) => {
      queries.setQueryData([project.project_id, "session", session.session_id], session);
      void queries.invalidateQueries({ queryKey: [project.project_id, "session", "list"] });
      go(
        session.tries_id === null
          ? path`/projects/${project.slug}/sessions/${session.session_id}`
          : path`/projects/${project.slug}/tries/${session.tries_id}`,
      );
    },
  });
  const isTooLong = bytesOf(form.values.prompt) > PROMPT_MAX_BYTES;
  const lacksPrompt = files.length > 0 && form.values.prompt.trim() === "";
  const submit = () => {
    if (!isTooLong && !lacksPrompt && !form.isPending) form.submit();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    submit();
  };
  return (
    <Page title="New session">
      <Form onSubmit={submit} className="flex max-w-2xl flex-col gap-4">
        <PromptField
          error={promptProblem({ isTooLong, lacksPrompt })}
          attachments={attachments}
          {...form.input("prompt")}
          onKeyDown={onKeyDown}
        />
        <Base projectId={project.project_id} input={form.input("base")} />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label="Name"
            hint="Optional. A display name; the branch name contains the session id."
            maxLength={NAME_MAX}
            {...form.input("name")}
          />
          <AgentField projectId={project.project_id} input={form.input("agent")} />
          <TextField
            label="Model"
            hint="Optional. Format: provider/model. Default: the model of the agent."
            maxLength={NAME_MAX}
            {...form.input("model")}
          />
          <ModeField input={form.input("mode")} />
          <EffortField input={form.input("effort")} />
          <Select label="Tries" hint={TRIES_HINT} {...form.input("tries")}>
            <Options of={TRIES} />
          </Select>
          <RuntimeField projectId={project.project_id} input={form.input("runtime")} />
        </div>
        <Failure error={form.error} />
        {form.error instanceof ApiFailure && form.error.code === "concurrent_session_limit" && (
          <p className="text-muted">Stop a session of this account first, then start this one.</p>
        )}
        <div>
          <Button type="submit" look="primary" busy={form.isPending} disabled={isTooLong || lacksPrompt}>
            Start the session
          </Button>
        </div>
      </Form>
    </Page>
  );
}

type PromptFieldProps = InputProps & {
  error: string | undefined;
  attachments: ReturnType<typeof useAttachments>;
  onKeyDown: (event: KeyboardEvent) => void;
};

/** The first prompt, and files for it: pasted, dropped or chosen. */
function PromptField({ error, attachments, ...input }: PromptFieldProps) {
  const { files, problem, remove, add, onPaste, drop } = attachments;
  return (
    <div className="flex flex-col gap-2" {...drop}>
      <TextArea
        label="Prompt"
        hint="Optional. Without it, the agent waits for your first prompt. Ctrl-Enter starts the session."
        error={error ?? (problem || undefined)}
        rows={6}
        {...input}
        onPaste={onPaste}
      />
      <AttachedFiles files={files} onRemove={remove} />
      <AttachButton className="self-start" onChoose={add} />
    </div>
  );
}

function promptProblem({ isTooLong, lacksPrompt }: { isTooLong: boolean; lacksPrompt: boolean }) {
  if (lacksPrompt) return "Add a prompt to send the attached files.";
  return isTooLong ? "The limit is 64 KiB." : undefined;
}

/** The base branch; a text field if the branches cannot be listed. */
function Base({ projectId, input }: { projectId: string; input: InputProps }) {
  const { branches, main, isError } = useBranches(projectId);
  const hint = "The branch of the session starts from it.";
  if (isError) {
    return <TextField label="Base branch" hint={`${hint} Default: the default branch.`} {...input} />;
  }
  return (
    <Select label="Base branch" hint={hint} {...input}>
      <option value="">{main ? `${visibleText(main.name)} (default)` : "The default branch"}</option>
      <Options of={branches.filter((each) => each !== main).map(({ name }) => [name, visibleText(name)])} />
    </Select>
  );
}

function bodyOf(session_id: string, values: typeof NOTHING): CreateSessionBody {
  const { prompt, base, agent, model, name, runtime, mode, effort } = values;
  return {
    session_id,
    ...(prompt.trim() && { initial_prompt: prompt }),
    ...(base.trim() && { base_ref: base.trim() }),
    ...(agent.trim() && { agent_name: agent.trim() }),
    ...(model.trim() && { model: model.trim() }),
    ...(name.trim() && { name: name.trim() }),
    ...(runtime !== "" && { runtime }),
    ...(isPermissionMode(mode) && { mode }),
    ...(effort.trim() && { effort: effort.trim() }),
  };
}

/** The id is chosen here, so that a session whose response was lost can be found instead of created twice. */
async function create(projectId: string, body: CreateSessionBody): Promise<Session> {
  try {
    return await call<Session>("POST", path`/projects/${projectId}/sessions`, { body });
  } catch (error) {
    const isMade = error instanceof ApiFailure && (error.status === 0 || error.code === "session_exists");
    if (!isMade) throw error;
    return call<Session>("GET", path`/projects/${projectId}/sessions/${body.session_id ?? ""}`).catch(() => {
      throw error;
    });
  }
}

/** The first of several sessions. The id of the tries is chosen here, so that a request can be repeated. */
async function createTries(
  projectId: string,
  { session_id: tries_id, initial_prompt = "", ...fields }: CreateSessionBody,
  count: number,
): Promise<Session> {
  const body: CreateTriesBody = { ...fields, initial_prompt, count, ...(tries_id && { tries_id }) };
  const { tries } = await call<Tries>("POST", path`/projects/${projectId}/tries`, { body });
  const [first] = tries;
  if (!first) throw new ApiFailure(0, "unexpected_response", "The server returned no sessions.");
  return first.session;
}
