// The file that was chosen with the button, for the dialog that takes it.

type Take = (file: File) => void;

const takers = new Set<Take>();

/** Calls `take` with each chosen file; returns how to stop that. */
export function onChosenFile(take: Take): () => void {
  takers.add(take);
  return () => takers.delete(take);
}

/** Lets the user choose a file. */
export function chooseFile(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.onchange = () => {
    const file = input.files?.[0];
    if (file) for (const take of takers) take(file);
  };
  input.click();
}
