import { useBranches } from "../../api/branches.ts";
import { Options, Select, TextField } from "../../parts/field.tsx";
import type { InputProps } from "../../parts/form.tsx";
import { visibleText } from "../../parts/visible.tsx";

interface Props {
  label: string;
  hint: string;
  /** The choice that names no branch. */
  none: string;
  input: InputProps;
  projectId: string;
  leftOut?: readonly string[];
}

/** A branch; a text field if the branches cannot be listed. */
export function BranchField({ label, hint, none, input, projectId, leftOut = [] }: Props) {
  const { branches, isError } = useBranches(projectId);
  if (isError) return <TextField label={label} hint={hint} {...input} />;
  const names = branches.map(({ name }) => name).filter((name) => !leftOut.includes(name));
  return (
    <Select label={label} hint={hint} {...input}>
      <option value="">{none}</option>
      <Options of={names.map((name) => [name, visibleText(name)])} />
    </Select>
  );
}
