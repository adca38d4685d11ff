// The file that was chosen with the button, for the dialog that takes it.

type FileHandler = (file: File) => void;

const handlers = new Set<FileHandler>();

/** Calls `handle` with each chosen file; returns how to stop that. */
export function onChosenFile(handle: FileHandler): () => void {
  handlers.add(handle);
  return () => handlers.delete(handle);
}

/** Lets the user choose a file. */
export function chooseFile(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.onchange = () => {
    const file = input.files?.[0];
    if (file) for (const handle of handlers) handle(file);
  };
  input.click();
}
