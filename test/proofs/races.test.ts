import { shortForms } from '../support/proofs/short-form.js';

await shortForms('races');
