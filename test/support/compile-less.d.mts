export declare const compileLess: string;
