import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { WaitingFor } from "../../../../src/contract/session.ts";
import { Button } from "../../../parts/button.tsx";
import { Form } from "../../../parts/form.tsx";
import { Failure } from "../../../parts/notice.tsx";
import { Visible } from "../../../parts/visible.tsx";
import type { Chat } from "./chat.ts";

/** A question or a permission request of the agent. */
export function Asked({ isStopped, ...props }: Props & { isStopped: boolean }) {
  const { ask } = props;
  const isPermission = ask.kind === "permission";
  return (
    <section role="alert" className="flex flex-col gap-3 rounded-lg border border-warn bg-surface p-4">
      <h3 className="font-semibold text-warn">
        {isPermission ? "The agent requests permission" : "Question from the agent"}
      </h3>
      {ask.kept && (
        <p className="text-muted text-sm">
          The agent asked this before its sandbox ended. Your answer {isStopped && "starts it again and "}
          continues its work.
        </p>
      )}
      {isPermission ? <Permission {...props} /> : <Questions {...props} />}
    </section>
  );
}

interface Props {
  ask: WaitingFor;
  chat: Chat;
}

type Question = WaitingFor["questions"][number];

function Permission({ ask, chat }: Props) {
  const reply = useMutation({
    mutationFn: (how: "once" | "always" | "reject") => chat.answer(ask.request_id, how),
  });
  const isSaid = reply.isPending || reply.isSuccess;
  return (
    <>
      <p>
        Allow it to use{" "}
        <strong>
          <Visible>{ask.permission ?? ""}</Visible>
        </strong>
        ?
      </p>
      {ask.patterns.map((pattern) => (
        <code key={pattern} className="block rounded-sm bg-raised px-2 py-1 font-mono text-sm">
          <Visible>{pattern}</Visible>
        </code>
      ))}
      <Failure error={reply.error} />
      <div className="flex flex-wrap gap-2">
        <Button look="primary" disabled={isSaid} onClick={() => reply.mutate("once")}>
          Allow once
        </Button>
        <Button disabled={isSaid} onClick={() => reply.mutate("always")}>
          Always allow
        </Button>
        <Button look="danger" disabled={isSaid} onClick={() => reply.mutate("reject")}>
          Reject
        </Button>
      </div>
    </>
  );
}

function Questions({ ask, chat }: Props) {
  const [chosen, setChosen] = useState<readonly (readonly string[])[]>(() => ask.questions.map(() => []));
  const [own, setOwn] = useState<readonly string[]>(() => ask.questions.map(() => ""));
  const answers = ask.questions.map((_, at) => {
    const words = own[at]?.trim();
    return [...(chosen[at] ?? []), ...(words ? [words] : [])];
  });
  const reply = useMutation({
    mutationFn: (how: "answer" | "refuse") => chat.answer(ask.request_id, how === "answer" ? answers : null),
  });
  const isSaid = reply.isPending || reply.isSuccess;
  const submit = () => {
    if (!isSaid && answers.every((each) => each.length > 0)) reply.mutate("answer");
  };
  return (
    <Form onSubmit={submit}>
      {ask.questions.map((question, at) => (
        <OneQuestion
          // biome-ignore lint/suspicious/noArrayIndexKey: questions have no id and a fixed order
          key={at}
          name={`${ask.request_id}-${at}`}
          question={question}
          chosen={chosen[at] ?? []}
          own={own[at] ?? ""}
          onChoose={(labels) => {
            setChosen(chosen.with(at, labels));
            if (!question.multiple) setOwn(own.with(at, ""));
          }}
          onOwn={(words) => {
            setOwn(own.with(at, words));
            if (!question.multiple) setChosen(chosen.with(at, []));
          }}
        />
      ))}
      <Failure error={reply.error} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" disabled={isSaid || answers.some((each) => each.length === 0)}>
          Answer
        </Button>
        <Button disabled={isSaid} onClick={() => reply.mutate("refuse")}>
          Skip
        </Button>
      </div>
    </Form>
  );
}

function OneQuestion({
  name,
  question: { question, options, multiple, custom },
  chosen,
  own,
  onChoose,
  onOwn,
}: {
  name: string;
  question: Question;
  chosen: readonly string[];
  own: string;
  onChoose: (labels: readonly string[]) => void;
  onOwn: (words: string) => void;
}) {
  const choose = (label: string) => {
    if (!multiple) onChoose([label]);
    else onChoose(chosen.includes(label) ? chosen.filter((each) => each !== label) : [...chosen, label]);
  };
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 whitespace-pre-wrap font-medium">
        <Visible>{question}</Visible>
      </legend>
      {options.map(({ label, description }) => (
        <label key={label} className="flex items-baseline gap-2">
          <input
            type={multiple ? "checkbox" : "radio"}
            name={name}
            className="accent-accent"
            checked={chosen.includes(label)}
            onChange={() => choose(label)}
          />
          <span>
            <Visible>{label}</Visible>
            {description !== "" && description !== label && (
              <span className="text-muted text-sm">
                {" "}
                <Visible>{description}</Visible>
              </span>
            )}
          </span>
        </label>
      ))}
      {(custom || options.length === 0) && (
        <input
          type="text"
          aria-label="Other answer"
          placeholder="Other answer"
          className="w-full rounded-md border border-edge bg-surface px-3 py-1.5 placeholder:text-muted"
          value={own}
          onChange={(event) => onOwn(event.target.value)}
        />
      )}
    </fieldset>
  );
}
