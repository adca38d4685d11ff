// Vitest's result in the one form that make/tally counts.
export default class TallyReporter {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const failed = tests.filter((test) => test.result().state === "failed").length;
    console.log(`test result: ${tests.length - failed} passed; ${failed} failed;`);
  }
}
