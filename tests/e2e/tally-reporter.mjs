// Vitest's result in the forms that make/tally and make/failures read.
export default class TallyReporter {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const failed = tests.filter((test) => test.result().state === "failed");
    for (const test of failed) console.log(`FAILED  ${test.fullName}`);
    console.log(`test result: ${tests.length - failed.length} passed; ${failed.length} failed;`);
  }
}
