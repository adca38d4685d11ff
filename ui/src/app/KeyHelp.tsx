import { Kbd, Modal, Table } from "@mantine/core";
import { memo, useRef } from "react";
import { KEYS } from "./keys";

/** The keys, on `?`. */
export const KeyHelp = memo(function KeyHelp(props: { opened: boolean; onClose: () => void }) {
  const { opened, onClose } = props;
  const wasOpened = useRef(false);
  wasOpened.current ||= opened;
  // Once made it stays, so that it can fade.
  if (!wasOpened.current) return null;
  return (
    <Modal opened={opened} onClose={onClose} title="Keyboard shortcuts" size="sm">
      <Table verticalSpacing={4}>
        <Table.Tbody>
          {KEYS.map(([key, words]) => (
            <Table.Tr key={key}>
              <Table.Td className="nowrap">
                <Kbd>{key}</Kbd>
              </Table.Td>
              <Table.Td>{words}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
});
