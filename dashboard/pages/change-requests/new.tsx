import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import type { ChangeRequest, OpenChangeRequestBody } from "../../../src/contract/change-request.ts";
import type { ChangeRequestTemplates } from "../../../src/contract/change-request-template.ts";
import { TITLE_MAX } from "../../../src/contract/limits.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Options, Select, TextArea, TextField } from "../../parts/field.tsx";
import { Form, useForm } from "../../parts/form.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Page } from "../../parts/page.tsx";
import { visibleText } from "../../parts/visible.tsx";
import { BranchField } from "./branch-field.tsx";

const NOTHING = { head: "", base: "", title: "" };

/** Opens a change request, and its page. */
export function NewChangeRequest() {
  const project = useProject();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const [isDraft, setIsDraft] = useState(false);
  const form = useForm(NOTHING, {
    send: ({ head, base, title }) => {
      const body: OpenChangeRequestBody = {
        title: title.trim(),
        description: description.text,
        head_ref: head.trim(),
        ...(base !== "" && { base_ref: base.trim() }),
        ...(isDraft && { draft: true }),
      };
      return call<ChangeRequest>("POST", path`/projects/${project.project_id}/change-requests`, { body });
    },
    onSuccess: ({ number }) => {
      void queries.invalidateQueries({ queryKey: [project.project_id, "change_request"] });
      go(path`/projects/${project.slug}/change-requests/${number}`);
    },
  });
  const description = useDescription(project.project_id, form.values.base);
  const isWhole = form.values.head.trim() !== "" && form.values.title.trim() !== "";
  return (
    <Page title="New change request">
      <Form
        onSubmit={() => isWhole && !form.isPending && form.submit()}
        className="flex max-w-2xl flex-col gap-4"
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <BranchField
            label="Branch"
            hint="With the commits to merge."
            none="Choose a branch"
            input={form.input("head")}
            projectId={project.project_id}
          />
          <BranchField
            label="Into"
            hint="The branch to merge into."
            none={`${visibleText(project.default_branch)} (default)`}
            input={form.input("base")}
            projectId={project.project_id}
            leftOut={[project.default_branch]}
          />
        </div>
        <TextField label="Title" required maxLength={TITLE_MAX} {...form.input("title")} />
        <Description {...description} />
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={isDraft}
            onChange={(event) => setIsDraft(event.target.checked)}
          />
          Draft: not to be merged yet
        </label>
        <Failure error={form.error} />
        <div>
          <Button type="submit" look="primary" busy={form.isPending} disabled={!isWhole}>
            Open the change request
          </Button>
        </div>
      </Form>
    </Page>
  );
}

/** The description: what was typed, or the template. */
function useDescription(projectId: string, base: string) {
  // null: it is that of the template
  const [typed, setTyped] = useState<string | null>(null);
  const [chosen, setChosen] = useState("");
  const templates = useTemplates(projectId, base);
  const template =
    templates.find((each) => each.path === chosen) ?? templates.find(({ is_default }) => is_default);
  const choose = (file: string) => {
    setChosen(file);
    // what was typed stays, above the template
    const body = templates.find((each) => each.path === file)?.body ?? "";
    setTyped(typed?.trim() ? `${typed.trimEnd()}\n\n${body}` : null);
  };
  return { text: typed ?? template?.body ?? "", templates, template, choose, write: setTyped };
}

function Description({ text, templates, template, choose, write }: ReturnType<typeof useDescription>) {
  return (
    <>
      {templates.some(({ is_default }) => !is_default) && (
        <Select
          label="Template"
          value={template?.path ?? ""}
          onChange={(event) => choose(event.target.value)}
        >
          {template === undefined && <option value="">None</option>}
          <Options of={templates.map(({ path: file, name }) => [file, visibleText(name)])} />
        </Select>
      )}
      <TextArea
        label="Description"
        hint="Optional, in Markdown."
        rows={10}
        value={text}
        onChange={(event) => write(event.target.value)}
      />
    </>
  );
}

/** The templates of the base branch; none while they are read, or if they cannot be read. */
function useTemplates(projectId: string, base: string): ChangeRequestTemplates["templates"] {
  const query = base === "" ? "" : `?${new URLSearchParams({ base })}`;
  const { data } = useGet<ChangeRequestTemplates>(
    [projectId, "branch", "templates", base],
    `${path`/projects/${projectId}/change-request-templates`}${query}`,
  );
  return data?.templates ?? [];
}
