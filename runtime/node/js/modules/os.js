// As the package unenv has it, with the platform's names where that has none.
import all from "unenv/node/os";

export * from "unenv/node/os";

export const arch = () => "x64";
export const machine = () => "x86_64";
export const hostname = () => "localhost";

export default { ...all, arch, hostname, machine };
