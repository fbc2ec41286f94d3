// As the package unenv has it, with the platform's constant values instead of facts about the machine.
import all from "unenv/node/os";

export * from "unenv/node/os";

export const arch = () => "x64";
export const machine = () => "x86_64";
export const hostname = () => "localhost";
export const availableParallelism = () => 1;
export const cpus = () => [];
export const networkInterfaces = () => ({});
export const userInfo = () => ({});
export const homedir = () => "/tmp/";
export const tmpdir = () => "/tmp/";

export default {
  ...all,
  arch,
  availableParallelism,
  cpus,
  homedir,
  hostname,
  machine,
  networkInterfaces,
  tmpdir,
  userInfo,
};
