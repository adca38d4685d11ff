import { Button, Group, Select, Text } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { numberOf } from "../../api/client";
import type { QuerySpec } from "../../api/types";
import { short } from "../../base/format";
import { useAnswer } from "../../explore/answers";
import { useExplore } from "../../explore/context";
import { ViewFrame } from "../../explore/ViewFrame";
import { SampleRows } from "../samples/SampleRows";
import { RATE_SECONDS, rateSpec } from "./spec";

const PACES = [
  { value: "1000", label: "every second" },
  { value: "2000", label: "every 2 seconds" },
  { value: "5000", label: "every 5 seconds" },
];

/** The newest rows that match the filters, asked for again and again until it is paused. */
export default function TailView({ spec }: { spec: QuerySpec }) {
  const { resolved } = useExplore();
  const [pace, setPace] = useState("1000");
  const [paused, setPaused] = useState(false);
  const rows = useAnswer(spec);
  const rate = useAnswer(rateSpec(resolved));
  const again = useRef(() => undefined as unknown);
  again.current = () => {
    // A slow server is not asked faster than it answers.
    if (document.hidden || rows.isFetching) return;
    void rows.refetch();
    void rate.refetch();
  };
  useEffect(() => {
    if (paused) return;
    const timer = setInterval(() => again.current(), Number(pace));
    return () => clearInterval(timer);
  }, [paused, pace]);
  const events = numberOf(rate.data?.rows[0]?.[0] ?? null);
  const tools = (
    <Group gap="xs">
      <Button
        size="xs"
        variant={paused ? "filled" : "default"}
        leftSection={paused ? <IconPlayerPlay size={14} /> : <IconPlayerPause size={14} />}
        onClick={() => setPaused(!paused)}
      >
        {paused ? "Resume" : "Pause"}
      </Button>
      <Select
        size="xs"
        w={150}
        aria-label="How often"
        data={PACES}
        value={pace}
        allowDeselect={false}
        onChange={(value) => value && setPace(value)}
      />
      {events !== null && (
        <Text size="xs" c="dimmed" className="numbers">
          {short(events / RATE_SECONDS)} events per second
        </Text>
      )}
    </Group>
  );
  return (
    <ViewFrame
      title="Newest rows"
      spec={spec}
      // What is on the page is never old for longer than a pace: it is not dimmed each time.
      result={{ ...rows, isFetching: rows.isFetching && !rows.data }}
      height={400}
      tools={tools}
    >
      {(answer) => <SampleRows answer={answer} />}
    </ViewFrame>
  );
}
