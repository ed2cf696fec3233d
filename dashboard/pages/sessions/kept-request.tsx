import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { AnswerBody, Session } from "../../../src/contract/session.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";

type Answer = AnswerBody["answer"];
const REPLIES = [
  ["once", "Allow"],
  ["reject", "Reject"],
] as const;

/** What the agent asked in a sandbox that has ended. The answer starts it again. */
export function KeptRequest({ session }: { session: Session }) {
  const { project_id, session_id, waiting_for: request } = session;
  const queries = useQueryClient();
  const answering = useMutation({
    mutationFn: (answer: Answer) =>
      call("POST", path`/projects/${project_id}/sessions/${session_id}/answer`, {
        body: { request_id: request?.request_id, answer },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: [project_id, "session"] }),
  });
  if (!request?.kept) return null;
  return (
    <section
      aria-label="What the agent asked"
      className="flex flex-col gap-3 rounded-lg border border-warn bg-surface p-4"
    >
      <p className="text-muted text-sm">
        The agent asked this before its sandbox ended. Your answer{" "}
        {session.status === "stopped" && "starts it again and "}
        continues its work.
      </p>
      {request.kind === "permission" ? (
        <>
          <p>
            May I use <Visible>{`${request.permission}: ${request.patterns.join(", ")}`}</Visible>?
          </p>
          <div className="flex gap-2">
            {REPLIES.map(([reply, label]) => (
              <Button key={reply} busy={answering.isPending} onClick={() => answering.mutate(reply)}>
                {label}
              </Button>
            ))}
          </div>
        </>
      ) : (
        <Questions
          questions={request.questions}
          isBusy={answering.isPending}
          onAnswer={(answers) => answering.mutate(answers)}
        />
      )}
      <Failure error={answering.error} />
    </section>
  );
}

type Question = NonNullable<Session["waiting_for"]>["questions"][number];

function Questions({
  questions,
  isBusy,
  onAnswer,
}: {
  questions: readonly Question[];
  isBusy: boolean;
  onAnswer: (answers: string[][]) => void;
}) {
  const [chosen, setChosen] = useState<readonly string[][]>([]);
  const of = (at: number) => chosen[at] ?? [];
  const set = (at: number, answers: string[]) =>
    setChosen(questions.map((_, each) => (each === at ? answers : of(each))));
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(questions.map((_, at) => of(at)));
      }}
    >
      {questions.map(({ question, options, multiple, custom }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the questions of a request do not change, and may be equal
        <fieldset key={at} className="flex flex-col gap-1">
          <legend>
            <Visible>{question}</Visible>
          </legend>
          {options.map(({ label, description }) => (
            <label key={label} className="flex gap-2">
              <input
                type={multiple ? "checkbox" : "radio"}
                name={`answer-${at}`}
                checked={of(at).includes(label)}
                onChange={({ target }) => {
                  const others = multiple ? of(at).filter((each) => each !== label) : [];
                  set(at, target.checked ? [...others, label] : others);
                }}
              />
              <span>
                <Visible>{label}</Visible>{" "}
                <span className="text-muted text-sm">
                  <Visible>{description}</Visible>
                </span>
              </span>
            </label>
          ))}
          {custom && (
            <TextField
              label="Another answer"
              value={of(at).find((each) => options.every(({ label }) => label !== each)) ?? ""}
              onChange={({ target }) => set(at, target.value === "" ? [] : [target.value])}
            />
          )}
        </fieldset>
      ))}
      <div>
        <Button type="submit" look="primary" busy={isBusy}>
          Answer
        </Button>
      </div>
    </form>
  );
}
